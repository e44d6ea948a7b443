closed_cube > cube.obj
sapwood distance cube.obj flat.xyz
