volume 7 > v.raw; sapwood isosurface v.raw --size 7,7,7 --type u8 --level 100 --device gl --render a.ppm
