# Outside of a face, an edge and a corner, and in the middle of the cube.
closed_cube > cube.obj
printf '0.1 0.2 5\n3 3 0\n3 3 3\n0.5 0.1 0\n' > q.xyz
sapwood closest cube.obj q.xyz && sapwood closest cube.obj q.xyz --inside -o c.csv && cat c.csv
