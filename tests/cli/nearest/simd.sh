lattice 7 > l.xyz
sapwood nearest l.xyz -k 6 -q -o auto.npy && sapwood nearest l.xyz -k 6 -q --device cpu --simd portable --threads 2 -o portable.npy && cmp auto.npy portable.npy
