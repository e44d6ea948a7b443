sapwood distance five.xyz queries.xyz --json -o d.npy --quantile 0.5 | grep -v simd
