sapwood thin five.xyz -s 1.5 --fewest 0
