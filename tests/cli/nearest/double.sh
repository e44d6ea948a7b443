sapwood convert five.xyz --precision float64 -q -o five.npy && sapwood convert queries.xyz --precision float64 -q -o q.npy
sapwood nearest five.npy q.npy -k 2 -q --distances d2.npy && head -c 60 d2.npy | grep -a -o "'<f8'" && show d2.npy
