# Coordinates are written as they were read, digit for digit.
printf "v 481234.57 5431234.12 0.1\nv 481236.57 5431234.1 -7\nv 481236 5431236.31 12.25\nf 1 2 3\n" > far.obj
for name in near.obj near.off near.ply near.csv near.stl; do sapwood convert far.obj -o $name; done
cat near.obj near.off near.csv
sapwood convert near.ply --origin 481235,5431235,0 -o again.obj -q && cmp near.obj again.obj
head -6 near.ply
sapwood convert far.obj --origin auto -o near.off
sapwood convert far.obj --origin 0,0,0 -o near.off && tail -4 near.off
sapwood convert far.obj --origin 481240,5431230,0 -o near.off --json
sapwood convert five.xyz -o five.csv --origin auto
