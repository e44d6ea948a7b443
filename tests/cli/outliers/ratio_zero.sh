sapwood outliers five.xyz --ratio 0
