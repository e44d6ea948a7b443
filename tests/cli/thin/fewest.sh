sapwood thin five.xyz -s 3 --fewest 2 --precision float64
