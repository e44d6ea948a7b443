sapwood bench five.xyz --split sliding-midpoint --walk stackless
