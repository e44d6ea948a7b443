sapwood convert cube.ply
