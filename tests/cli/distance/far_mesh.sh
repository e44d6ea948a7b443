# Far from 0 floats are half a metre apart; queries are written as the file has them.
printf "v 481234.57 5431234.12 101.5\nv 481236.57 5431234.12 101.5\nv 481236.57 5431236.31 101.5\nf 1 2 3\n" > far.obj
printf "481236.25 5431234.5 103.5\n481230 5431234.12 101.5\n" > q.xyz
sapwood distance far.obj q.xyz
