sapwood density five.xyz -r 3 --json -o n.csv | grep -v simd
