sapwood build five.xyz -q -o five.sap
sapwood nearest five.sap five.xyz --columns 3,2,1
sapwood nearest five.sap two.npz --member points
for option in "--columns 1,2,3" "--member a"; do sapwood nearest five.sap $option; sapwood info five.sap $option; done
sapwood info tetrahedron.tree --columns 1
sapwood info quad.obj --member a
sapwood build quad.obj --triangles --member a -o q.sap
