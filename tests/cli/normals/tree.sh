sapwood build five.xyz -q -o t.sap
sapwood normals t.sap -k 4
