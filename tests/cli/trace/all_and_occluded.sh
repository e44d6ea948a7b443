sapwood trace cube.ply queries.xyz --all --occluded
