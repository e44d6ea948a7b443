volume 7 > v.raw; sapwood isosurface v.raw --size 7,7,7 --type u8 --level 100 -o a.ply && sapwood info a.ply && head -c 300 a.ply | grep -a property
