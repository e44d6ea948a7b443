printf "x,y,z,i\n0,0,0,7\n50,0,0,8\n0,1,0,9\n1,1,0,10\n" > a.csv; sapwood cluster a.csv -r 2 -o b.csv -q; cat b.csv
