sapwood cluster five.xyz -r 2 --json -o n.csv | grep -v simd
