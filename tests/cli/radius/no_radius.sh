sapwood radius five.xyz
