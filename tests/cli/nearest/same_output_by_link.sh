: > a.npy && ln -s a.npy b.npy && sapwood nearest five.xyz -o a.npy --distances b.npy
