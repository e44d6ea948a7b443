sapwood build five.xyz --triangles -o q.sap
sapwood build quad.obj --triangles --leaf-size 8 -o q.sap
sapwood build five.xyz --quality fast -o q.sap
sapwood build tetrahedron.tree --triangles -o q.sap
