sapwood assemble five.xyz flat.xyz
