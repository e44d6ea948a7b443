printf "0.2 0.3 5 0 0 -1\n0.2 0.3 5 0 0 1\n0.75 0.5 1 0 0 -2\n" > r.xyz; sapwood trace quad.obj r.xyz -o h.csv && cat h.csv
