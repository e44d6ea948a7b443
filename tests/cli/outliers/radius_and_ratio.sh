sapwood outliers five.xyz -r 2 --ratio 3
