sapwood cluster five.xyz -r 2 --fewest 3 --kinds
