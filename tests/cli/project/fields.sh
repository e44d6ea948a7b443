printf "x,y,z,i\n0,0,0,7\n1,0,0,8\n0,1,0,9\n1,1,0,10\n0.4,0.5,0,11\n" > a.csv
sapwood project a.csv --count 2 -o b.csv -q; head -1 b.csv; wc -l < b.csv
