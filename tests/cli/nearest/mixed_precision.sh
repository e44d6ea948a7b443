sapwood convert queries.xyz --precision float64 -q -o q.npy
sapwood nearest five.xyz q.npy --device cpu --threads 1 --simd portable -v
