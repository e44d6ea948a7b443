sapwood info faces.ply; sapwood info faces.ply --precision float64 | head -3
