sapwood convert - -o five.npy < five.xyz && show five.npy
