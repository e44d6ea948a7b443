sapwood nearest five.xyz -k 0
