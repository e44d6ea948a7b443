# Points of three sides of a cube, a little beside them: the nearest triangles are those of their own sides.
closed_cube > cube.obj
awk 'BEGIN { for (i = -3; i < 4; i++) for (j = -3; j < 4; j++) { print 1.0625, i / 4 + 0.0625, j / 4; print i / 4 + 0.0625, 1.0625, j / 4; print i / 4 + 0.0625, j / 4 + 0.0625, 1 } }' > moved.xyz
sapwood align moved.xyz cube.obj --method plane --transform t.txt --json | grep -E '"target"|"pairs"|converged'
awk '{ printf "%.3f %.3f %.3f %.3f\n", $1, $2, $3, $4 }' t.txt | sed 's/-0\.000/0.000/g'
