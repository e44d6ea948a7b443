sapwood radius no.ply -r 1
