sapwood render none.obj -o a.ppm
