closed_cube > c.obj; sapwood subdivide c.obj -o a.npy
