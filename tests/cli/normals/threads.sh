for threads in 1 2 3; do lattice 12 | sapwood normals - -k 4 --threads $threads | cksum; done
