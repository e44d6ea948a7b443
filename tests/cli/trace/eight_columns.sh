printf "0.2,0.3,5,0,0,0,-1,4\n0.2,0.3,5,0,0,0,-1,6\n0.2,0.3,5,6,0,0,-1,inf\n" > r.csv; sapwood trace quad.obj r.csv
