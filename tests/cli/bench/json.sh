sapwood bench five.xyz queries.xyz --json --device cpu --threads 1 --simd portable | sed -E 's/("(median_seconds|best_seconds|per_second)": )[0-9.e+-]+/\1N/'
