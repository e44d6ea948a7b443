sapwood outliers five.xyz -r 2
