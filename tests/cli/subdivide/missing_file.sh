sapwood subdivide none.ply -o a.ply
