sapwood radius five.xyz no.ply -r 1
