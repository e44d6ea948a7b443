sapwood nearest five.xyz --eps 0.1 --verify
