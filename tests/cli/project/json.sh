sapwood project five.xyz --count 3 -r 2 --steps 2 -o r.csv --json | grep -v simd | grep -v movement
