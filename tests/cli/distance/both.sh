sapwood distance five.xyz queries.xyz --both --quantile 0.7 --json | grep -v simd
sapwood distance five.xyz queries.xyz --both -o d.csv && cat d.csv
