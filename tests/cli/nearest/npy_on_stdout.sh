sapwood nearest five.xyz queries.xyz -o - > ids.npy && show ids.npy
