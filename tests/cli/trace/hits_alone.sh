sapwood trace cube.ply queries.xyz --hits 3
