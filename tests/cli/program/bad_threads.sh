sapwood nearest five.xyz --threads 0
