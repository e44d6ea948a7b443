for threads in 1 2 3; do lattice 12 | sapwood project - --steps 3 --count 300 --by-density --threads $threads | cksum; done
