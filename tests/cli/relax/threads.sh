for threads in 1 2 3; do lattice 12 | sapwood relax - --steps 3 --more 100 --threads $threads | cksum; done
