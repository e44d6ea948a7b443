sapwood cluster five.xyz -r 2 -o five.xyz
