sapwood nearest five.xyz --json --format csv
