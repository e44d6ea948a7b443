sapwood nearest five.xyz queries.xyz --json -o -
