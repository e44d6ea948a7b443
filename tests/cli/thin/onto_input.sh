sapwood thin five.xyz -s 1.5 -o five.xyz
