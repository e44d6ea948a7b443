sapwood correlate five.xyz queries.xyz -r 1,9 --json | grep -v simd
