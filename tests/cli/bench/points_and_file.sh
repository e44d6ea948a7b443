sapwood bench five.xyz --points 10
