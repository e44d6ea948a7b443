sapwood nearest five.xyz queries.xyz --radius 0
