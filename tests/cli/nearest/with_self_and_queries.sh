sapwood nearest five.xyz queries.xyz --with-self
