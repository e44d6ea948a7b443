sapwood nearest five.xyz --ordered
