sapwood density five.xyz -k 2 -r 1
