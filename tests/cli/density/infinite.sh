sapwood density five.xyz --radius inf
