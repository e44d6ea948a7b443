sapwood render quad.obj -o a.ppm --eye 1,1,1 --at 1,1,1; sapwood render quad.obj -o a.ppm --up 0,0,0
