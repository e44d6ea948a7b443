closed_cube > c.obj; sapwood subdivide c.obj -o a.ply --levels 2 && sapwood info a.ply && head -c 300 a.ply | grep -a property
