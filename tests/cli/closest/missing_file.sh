sapwood closest nothing.ply queries.xyz
