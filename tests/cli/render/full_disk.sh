ln -s /dev/full a.ppm; sapwood render quad.obj -o a.ppm --size 4x4
