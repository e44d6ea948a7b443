sapwood closest cube.ply
