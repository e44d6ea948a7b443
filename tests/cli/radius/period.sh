sapwood radius five.xyz queries.xyz --radius 1.1 --period 2,2,5 --device cpu
