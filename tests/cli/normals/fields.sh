printf "x,y,z,i,nx\n0,0,0,7,9\n1,0,0,8,9\n0,1,0,9,9\n1,1,0,10,9\n" > a.csv; sapwood normals a.csv -k 4 -o b.csv -q; cat b.csv
