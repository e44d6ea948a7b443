sapwood nearest five.xyz --period 3,0,0 --verify
