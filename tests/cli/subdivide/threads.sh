closed_cube > c.obj; for threads in 1 3; do sapwood subdivide c.obj -o $threads.ply -q --levels 6 --threads $threads; done; cmp 1.ply 3.ply
