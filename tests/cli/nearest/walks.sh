lattice 7 > l.xyz
sapwood nearest l.xyz -k 6 -q -o auto.npy
for walk in stack stackless; do sapwood nearest l.xyz -k 6 -q --walk $walk -o $walk.npy && cmp auto.npy $walk.npy; done
