sapwood nearest five.xyz
