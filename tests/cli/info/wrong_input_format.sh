sapwood info five.xyz --input-format npy
