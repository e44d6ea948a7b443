printf "x,y,z,i\n0,0,0,7\n5,0,0,8\n" > a.csv; sapwood distance five.xyz a.csv -o b.csv -q; cat b.csv
