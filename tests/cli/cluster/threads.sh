for threads in 1 2 3; do lattice 12 | sapwood cluster - -r 2 --threads $threads | cksum; done
