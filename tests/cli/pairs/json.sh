sapwood pairs five.xyz -r 3 --json -o p.csv | grep -v simd
