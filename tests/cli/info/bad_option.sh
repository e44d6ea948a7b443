sapwood info cube.ply -k 3
