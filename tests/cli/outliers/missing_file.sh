sapwood outliers absent.xyz -k 2 --ratio 1
