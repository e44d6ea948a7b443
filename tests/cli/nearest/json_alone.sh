sapwood nearest five.xyz --json
