lattice 4 > l.xyz
sapwood picture l.xyz -o a.ppm --size 64x48 --eye 9,-9,9 --at 1,1,1 --up 0,1,0 --fov 60 --background 0,0.5,1 --point-size 0.5 -q
cksum < a.ppm
