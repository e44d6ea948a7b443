# All twelve edges of a cube are creases, and its corners stay; the diagonals of its sides, which are flat, are none.
closed_cube > c.obj; sapwood subdivide c.obj -o a.off --creases 45 --limit --levels 1 && sapwood info a.off && head -28 a.off
