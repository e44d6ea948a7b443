printf '0.1 1 1\n' > p.xyz && sapwood correlate p.xyz --radii 1 --period 3,-1,0
