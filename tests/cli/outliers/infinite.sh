sapwood outliers five.xyz --radius inf
