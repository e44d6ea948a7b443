sapwood nearest five.xyz queries.xyz -k 2 --radius 2 --json -o ids.npy -q --verify
