sapwood nearest five.xyz --neighbours 3
