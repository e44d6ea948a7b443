# Floats are half a metre apart there.
printf 'v 481234.57 5431234.12 12\nv 481235.57 5431234.12 12\nv 481235.57 5431235.31 12\nf 1 2 3\n' > roof.obj
sapwood info roof.obj | grep -e lower -e upper
sapwood convert roof.obj -o roof.stl -q
sapwood info roof.obj --origin 0,0,0 | grep -e lower -e upper
sapwood build roof.obj --triangles -o roof.sap
