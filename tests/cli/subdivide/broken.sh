printf 'OFF\n5 3 0\n0 0 0\n1 0 0\n0 1 0\n0 -1 0\n0 0 1\n3 0 1 2\n3 1 0 3\n3 0 1 4\n' > a.off; sapwood subdivide a.off -o b.off; echo $?
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 -1 0\n3 0 1 2\n3 0 1 3\n' > a.off; sapwood subdivide a.off -o b.off; echo $?
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 1\n' > a.off; sapwood subdivide a.off -o b.off; echo $?
