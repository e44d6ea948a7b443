# A tree whose planes are cheap for points near the mesh: the same answers.
printf 'x,y,z\n9,5,0.2\n0.1,0.2,0.3\n0.5,0.5,1.01\n' > q.csv
sapwood build faces.ply --triangles -o a.sap -q
sapwood build faces.ply --triangles -o b.sap --cost voxels --reach 0.01 -q
sapwood closest a.sap q.csv > a.txt
sapwood closest b.sap q.csv | cmp - a.txt && echo same
sapwood closest faces.ply q.csv --cost voxels | cmp - a.txt && echo same
sapwood closest b.sap q.csv --cost voxels 2>&1 | grep -v ' --help'
sapwood closest faces.ply q.csv --reach 1 2>&1 | grep -v ' --help'
sapwood closest faces.ply q.csv --cost voxels --reach inf 2>&1 | grep -v ' --help'
sapwood build five.xyz -o c.sap --cost voxels --reach 1 2>&1 | grep -v ' --help'
sapwood build five.xyz -o c.sap --query-radius 1 2>&1 | grep -v ' --help'
