sapwood outliers - -k 2 --ratio 1 < five.xyz
