echo "1 2" | sapwood voronoi - --size 4x3 -o one.ppm --json --device cpu -q
