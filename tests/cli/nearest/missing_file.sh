sapwood nearest no.ply queries.xyz
