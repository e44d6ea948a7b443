lattice 6 > l.xyz
sapwood radius l.xyz -r 1.5 --verify -o o.npy && sapwood radius l.xyz -r 1.5 --verify --with-self --sorted -o o.npy &&
  sapwood radius l.xyz -r 1.5 --verify --pairs -o o.npy && sapwood radius l.xyz -r 1.5 --verify --count -o o.npy &&
  sapwood radius l.xyz queries.xyz -r 8 --verify --sorted -o o.npy
