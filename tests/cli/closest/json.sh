closed_cube > cube.obj
printf '0.1 0.2 5\n0.5 0.1 0\nnan 0 0\n' > q.xyz
sapwood closest cube.obj q.xyz --inside --json
