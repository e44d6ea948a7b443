sapwood assemble five.xyz nan.xyz
