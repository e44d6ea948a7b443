printf '0.1 1 1\n2.9 1 1\n1.5 1 1\n' > p.xyz && sapwood pairs p.xyz --radius 0.25 --period 3,0,0 && sapwood pairs p.xyz --radius 0.25 --count --period 3,0,0
