closed_cube > cube.obj
printf '0.1 0.2 5\n3 3 0\n3 3 3\n0.5 0.1 0\n' > q.xyz
sapwood distance cube.obj q.xyz
