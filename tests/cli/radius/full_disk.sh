lattice 10 > l.xyz
small_disk "$SAPWOOD" radius l.xyz -r 1 -o o.npy
