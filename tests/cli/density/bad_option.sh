sapwood density five.xyz -k 0
