sapwood outliers nan.xyz -k 2 --ratio 1 --drop-nonfinite
