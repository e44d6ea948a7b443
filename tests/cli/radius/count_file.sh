sapwood radius five.xyz queries.xyz -r 2 --count -o n.npy && head -c 100 n.npy | grep -a -o "{.*}" && show n.npy
