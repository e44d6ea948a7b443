closed_cube > cube.obj
printf 'a,z,y,x\n9,5,0.2,0.1\n' > q.csv
sapwood closest cube.obj q.csv
