sapwood bench five.xyz queries.xyz | mask_bench
