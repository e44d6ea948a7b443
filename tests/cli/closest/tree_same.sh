closed_cube > cube.obj
printf '0.1 0.2 5\n3 3 0\n0.5 0.1 0\n' > q.xyz
sapwood build cube.obj --triangles -o cube.sap -q && sapwood closest cube.sap q.xyz --inside > tree.txt && sapwood closest cube.obj q.xyz --inside | cmp - tree.txt
