sapwood isosurface none.raw --size 7,7,7 --level 1 -o a.ply
