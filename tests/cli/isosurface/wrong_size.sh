volume 7 > v.raw; sapwood isosurface v.raw --size 7,7,8 --type u8 --level 100 -o a.ply
