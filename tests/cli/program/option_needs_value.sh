sapwood nearest five.xyz -k
