sapwood density five.xyz
