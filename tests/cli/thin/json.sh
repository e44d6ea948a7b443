sapwood thin five.xyz -s 1.5 --json -o n.csv | grep -v simd
