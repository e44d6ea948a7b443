sapwood relax five.xyz --more 3 --steps 1 --json -o r.npy | grep -v simd | grep -v movement
