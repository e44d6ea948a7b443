sapwood density five.xyz -r 3
