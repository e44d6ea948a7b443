sapwood outliers five.xyz -r 2 -k 2 --invert
