sapwood nearest five.xyz --mask five.xyz
