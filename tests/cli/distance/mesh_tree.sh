closed_cube > cube.obj
sapwood build cube.obj --triangles -q -o t.sap
sapwood distance t.sap five.xyz
