sapwood info cube.ply --json
