sapwood nearest five.xyz queries.xyz -k 2
