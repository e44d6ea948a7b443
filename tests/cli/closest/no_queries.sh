closed_cube > cube.obj
: > q.xyz
sapwood closest cube.obj q.xyz -o c.csv && cat c.csv
