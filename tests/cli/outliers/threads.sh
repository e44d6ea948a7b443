for threads in 1 2 3; do lattice 12 | sapwood outliers - -k 2 --ratio 1 --threads $threads | cksum; done
