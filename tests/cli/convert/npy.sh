sapwood convert five.xyz -q -o five.npy && head -c 100 five.npy | grep -a -o "{.*}" && show five.npy
