sapwood bench --points 200 --queries 50 -k 3 -r 0.1 | mask_bench
