sapwood bench - < five.xyz | mask_bench
