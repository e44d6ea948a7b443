sapwood pairs five.xyz -r 1 -o five.xyz
