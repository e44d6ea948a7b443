lattice 6 > l.xyz; sapwood nearest l.xyz -k 9 --verify --distances d2.npy
