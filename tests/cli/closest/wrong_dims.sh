closed_cube > cube.obj
printf '1 2\n' > q.xyz
sapwood closest cube.obj q.xyz
