sapwood subdivide cube.ply -o a.ply
