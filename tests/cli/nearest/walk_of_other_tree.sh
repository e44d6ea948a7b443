sapwood nearest five.xyz --split sliding-midpoint --walk stackless
