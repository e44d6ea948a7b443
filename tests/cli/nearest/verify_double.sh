lattice 6 > l.xyz && sapwood convert l.xyz --precision float64 -q -o l.npy && sapwood nearest l.npy --with-self -k 5 --radius 1.5 --verify -o ids.npy
