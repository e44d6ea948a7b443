closed_cube > cube.obj
sapwood distance cube.obj five.xyz --both
