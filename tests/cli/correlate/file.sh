sapwood correlate five.xyz -r 1,9 -o c.npy && head -c 100 c.npy | grep -a -o "{.*}" && show c.npy
