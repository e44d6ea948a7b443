sapwood nearest five.xyz queries.xyz -k 2 -o ids.npy --distances d2.npy && show ids.npy && show d2.npy
