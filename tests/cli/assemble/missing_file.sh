sapwood assemble five.xyz absent.xyz queries.xyz
