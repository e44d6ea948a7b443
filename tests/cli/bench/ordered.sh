sapwood bench five.xyz queries.xyz --ordered | mask_bench
