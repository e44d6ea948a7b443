sapwood cluster five.xyz -r 2 --least 2 -o c.npy && show c.npy
