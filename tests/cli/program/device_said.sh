sapwood build five.xyz -o five.sap --device cpu --simd portable --threads 1 -v
sapwood info five.sap | tail -n 1
sapwood bench five.xyz --device cpu --simd portable --threads 1 | head -n 1
