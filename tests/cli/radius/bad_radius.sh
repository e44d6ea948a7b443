sapwood radius five.xyz -r 1m
