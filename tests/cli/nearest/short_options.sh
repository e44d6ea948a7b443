sapwood nearest five.xyz queries.xyz --neigh 2 --rad=3 --quie && sapwood nearest five.xyz --s 1
