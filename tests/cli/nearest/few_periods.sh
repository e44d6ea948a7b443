sapwood nearest five.xyz --period 3
