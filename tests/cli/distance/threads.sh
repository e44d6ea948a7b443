for threads in 1 2 3; do lattice 12 | sapwood distance five.xyz - --threads $threads | cksum; done
