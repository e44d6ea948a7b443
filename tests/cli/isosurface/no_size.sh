volume 7 > v.raw; sapwood isosurface v.raw --type u8 --level 100 -o a.ply
