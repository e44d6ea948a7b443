# Far from 0 floats are half a metre apart; queries and answers are in the coordinates of the file.
printf "v 481234.57 5431234.12 101.5\nv 481236.57 5431234.12 101.5\nv 481236.57 5431236.31 101.5\nf 1 2 3\n" > far.obj
printf "481236.25 5431234.5 103.5\n481230 5431234.12 101.5\n" > q.xyz
sapwood closest far.obj q.xyz
sapwood closest far.obj q.xyz --origin 481235,5431235,101 -q -o c.npy && tail -c 64 c.npy | od -An -t f8 -w32
sapwood closest far.obj q.xyz --origin 0,0,0
sapwood build far.obj --triangles --origin auto -o far.sap
sapwood closest far.sap q.xyz --origin auto
