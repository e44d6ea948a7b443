sapwood bench five.xyz --ordered
