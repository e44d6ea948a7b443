printf '0.1 1 1\n2.9 1 1\n1.5 1 1\n1.6 1 1\n' > p.xyz && sapwood correlate p.xyz --radii 0.25,2 --period 3,0,0 --jackknife 2 --blocks b.csv && cat b.csv
