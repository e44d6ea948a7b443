sapwood assemble five.xyz
