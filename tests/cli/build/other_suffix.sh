for name in tree.npy tree.ply tree.xyz.gz; do sapwood build five.xyz -o $name; done
