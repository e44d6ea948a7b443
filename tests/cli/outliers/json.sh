sapwood outliers five.xyz -k 2 --ratio 1 --json -o n.csv | grep -v simd
