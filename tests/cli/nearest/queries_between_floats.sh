# Whole numbers as points, queries between the floats there: all are doubles, from files and from a pipe.
printf '0 5431234 0\n0 5431235 0\n' > points.xyz
printf '0 5431234.6 0\n0 5431234.4 0\n' > q.xyz
sapwood nearest points.xyz q.xyz
sapwood nearest - q.xyz < points.xyz
cat points.xyz | sapwood nearest - q.xyz
sapwood nearest points.xyz q.xyz --precision float32
sapwood build points.xyz -o points.sap -q
sapwood nearest points.sap q.xyz
