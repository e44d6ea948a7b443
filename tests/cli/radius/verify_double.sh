lattice 6 > l.xyz && sapwood convert l.xyz --precision float64 -q -o l.npy
sapwood radius l.npy -r 1.5 --verify --sorted --distances d2.npy && sapwood radius l.npy queries.xyz -r 3 --verify --count -o n.npy
head -c 100 d2.npy | grep -a -o "'<f8'"
