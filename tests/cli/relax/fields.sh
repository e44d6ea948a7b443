printf "x,y,z,i\n0,0,0,7\n1,0,0,8\n0,1,0,9\n1,1,0,10\n0.4,0.5,0,11\n" > a.csv
sapwood relax a.csv -o b.csv -q; cut -d, -f4 b.csv | tr "\n" " "
