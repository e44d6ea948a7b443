printf '0.1 1 1\n2.9 1 1\n1.5 1 1\n' > p.xyz && sapwood build p.xyz --period 3,0,0 -o p.tree && sapwood correlate p.tree p.xyz --radii 0.25,2
