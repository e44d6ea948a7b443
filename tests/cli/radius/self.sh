sapwood radius five.xyz -r 4.5 --sorted
