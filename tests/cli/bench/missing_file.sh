sapwood bench no.ply
