sapwood nearest five.xyz queries.xyz -k 3 --radius 2
