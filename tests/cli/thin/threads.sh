for threads in 1 2 3; do lattice 12 | sapwood thin - -s 1.5 --threads $threads | cksum; done
