sapwood nearest five.xyz --walk run
