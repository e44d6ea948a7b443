sapwood density five.xyz -k 2
