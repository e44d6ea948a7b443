for threads in 1 2 3; do lattice 12 | sapwood density - -r 3 --threads $threads | cksum; done
