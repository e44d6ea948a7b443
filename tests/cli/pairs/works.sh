sapwood pairs five.xyz -r 3
