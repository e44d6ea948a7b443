sapwood nearest five.xyz queries.xyz -k 1 --radius inf
