sapwood bench five.xyz -r 1 | mask_bench
