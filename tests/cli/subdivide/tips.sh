# The corners of a square: round, or where they are.
sapwood subdivide quad.obj -o a.off -q --levels 0 --limit && cat a.off
sapwood subdivide quad.obj -o a.off -q --levels 0 --limit --keep-tips && cat a.off
