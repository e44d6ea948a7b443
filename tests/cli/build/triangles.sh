printf "0.2 0.3 5 0 0 -1\n0.2 0.3 5 0 0 1\n" > r.xyz
sapwood build quad.obj --triangles -o q.sap && sapwood verify q.sap && sapwood trace q.sap r.xyz -o tree.csv -q && sapwood trace quad.obj r.xyz -o mesh.csv -q && cmp tree.csv mesh.csv
sapwood build - --triangles --input-format obj -q -o - < quad.obj | cmp - q.sap
sapwood build quad.obj --triangles --quality fast -o q.sap --json -q | grep -v -e seconds -e '"read"' -e '"build":' -e '"save"' -e '^  }'
