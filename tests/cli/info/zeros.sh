# Bounds have no -0; convert keeps it.
printf -- '-0 0 0\n0 -0 1\n1 1 -0\n' > z.xyz
sapwood info z.xyz | grep -e lower -e upper
sapwood info z.xyz --json | grep -e -0
sapwood build z.xyz -o z.sap -q
sapwood info z.sap | grep -e lower -e upper
printf 'v -0 0 0\nv -1 0 0\nv 0 -1 -0\nf 1 2 3\n' > z.obj
sapwood info z.obj | grep -e lower -e upper
sapwood convert z.xyz
