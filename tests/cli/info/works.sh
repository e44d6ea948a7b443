sapwood info cube.ply
