# Where there is OpenGL ES: the CPU's counts, and what it cannot do.
awk 'BEGIN { for (i = 0; i < 500; i++) print i * 37 % 101, i * 53 % 97, i * 11 % 89 }' > p.xyz
sapwood radius p.xyz queries.xyz -r 30 --count --device gl > gl.txt 2> why || exit 77
sapwood radius p.xyz queries.xyz -r 30 --count --device cpu | cmp - gl.txt
sapwood radius p.xyz queries.xyz -r 30 --device gl
