sapwood bench --points 200 --queries 50 --dims 2 --precision float64 | mask_bench
