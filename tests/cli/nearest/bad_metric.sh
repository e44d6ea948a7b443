sapwood nearest five.xyz --metric 0.5
