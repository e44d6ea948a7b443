sapwood nearest five.xyz --with-self -k 2
