sapwood subdivide quad.obj -o a.obj -q && cat a.mtl && grep -v '^v' a.obj
