sapwood outliers five.xyz -k 0
