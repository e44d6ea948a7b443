printf 'v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > nan.obj
sapwood render nan.obj -o a.ppm
