sapwood convert faces.ply -q --json -o f.ply && sapwood info f.ply | head -4; sapwood convert faces.ply --precision float64 -o points.ply; sapwood convert faces.ply -q -o - --format obj
