# Far from 0 floats are half a metre apart; rays are in the coordinates of the file.
printf "v 481234.57 5431234.12 101.5\nv 481236.57 5431234.12 101.5\nv 481236.57 5431236.31 101.5\nf 1 2 3\n" > far.obj
printf "481236.25 5431234.5 103.5 0 0 -1\n481234.5 5431234.5 103.5 0 0 -1\n" > rays.xyz
sapwood trace far.obj rays.xyz
sapwood trace far.obj rays.xyz --origin 0,0,0
sapwood trace far.obj rays.xyz --origin 481235,5431235,101 --json
sapwood build far.obj --triangles --origin auto -o far.sap
sapwood trace far.sap rays.xyz --origin 481240,5431240,100
sapwood trace far.sap rays.xyz --origin auto
sapwood trace far.obj rays.xyz --origin 1,2
sapwood info far.obj --origin auto -q
sapwood info far.sap --origin auto
sapwood build rays.xyz -o rays.sap --origin auto
