sapwood density five.xyz -r 3 -o five.xyz
