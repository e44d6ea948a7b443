printf '0 0 0\n1 0 0\n1.25 0 0\n0 1 0\n1 1 0\n' > flat5.xyz
sapwood relax flat5.xyz --steps 1 -r 2 -o r.csv && cat r.csv
