# The same where floats are half a metre apart, from a start that is said in the coordinates of the files.
closed_cube | awk '/^v/ { printf "v %.2f %.2f %.2f\n", $2 + 481234.37, $3 + 5431234.37, $4 + 100; next } { print }' > cube.obj
awk 'BEGIN { for (i = -3; i < 4; i++) for (j = -3; j < 4; j++) { print 1.0625, i / 4 + 0.0625, j / 4; print i / 4 + 0.0625, 1.0625, j / 4; print i / 4 + 0.0625, j / 4 + 0.0625, 1 } }' |
  awk '{ printf "%.4f %.4f %.4f\n", $1 + 481334.37, $2 + 5431234.37, $3 + 100 }' > moved.xyz
printf '1 0 0 -100\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > start.txt
sapwood align moved.xyz cube.obj --method plane --start start.txt -o back.xyz -q
sed -n 1,3p back.xyz | awk '{ printf "%.3f %.3f %.3f\n", $1, $2, $3 }'
