sapwood nearest five.xyz -q --progress always -o ids.npy
