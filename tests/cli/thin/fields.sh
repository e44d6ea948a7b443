printf "x,y,z,intensity,red,green,blue,classification,nx,ny,nz\n0,0,0,7,10,20,255,2,0,0,1.0\n0.5,0,0,9,20,40,255,5,1.0,0,0\n5,5,5,1,2,3,4,5,0,1.0,0\n" > a.csv
for p in mean first nearest; do sapwood thin a.csv --cell-size 1 --point $p -o b.csv -q; cat b.csv; done
sapwood thin a.csv --farthest 2 -o b.csv -q; cat b.csv
