lattice 4 > l.xyz && sapwood convert l.xyz --precision float64 -q -o l.npy
sapwood nearest l.npy -k 5 --metric linf --verify -o ids.npy && sapwood nearest l.npy -k 5 --metric 1.5 --with-self --verify -o ids.npy
