sapwood build five.xyz -o -
