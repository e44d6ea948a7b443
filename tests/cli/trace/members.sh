printf "0.2 0.3 5 0 0 -1\nnan 0.3 5 0 0 1\n0.75 0.5 1 0 0 0\n" > r.xyz
sapwood trace quad.obj r.xyz
sapwood trace quad.obj r.xyz --json -q | grep invalid
printf "x,y,z,dx,dy,dz\n0.2,0.3,5,0,0,-1\n" > r.csv
sapwood trace quad.obj r.csv
sapwood trace quad.obj r.csv --columns x,y,z,dx,dy,dz
sapwood trace quad.obj two.npz --member b
sapwood build five.xyz -q -o five.sap; sapwood trace five.sap r.csv
sapwood trace quad.obj r.xyz --member a
