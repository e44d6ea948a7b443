sapwood convert five.xyz -q -o a.csv; echo "# x y z" > r.xyz; sapwood trace quad.obj r.xyz
