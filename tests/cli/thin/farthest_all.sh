sapwood thin five.xyz --farthest 9 --json | grep -v simd
