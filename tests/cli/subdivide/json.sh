closed_cube > c.obj; sapwood subdivide c.obj -o a.stl --creases 45 --limit --json -q
