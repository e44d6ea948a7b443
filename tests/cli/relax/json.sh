sapwood relax five.xyz --steps 2 -o r.csv --json | grep -v simd | grep -v movement
