printf '1e39 0\n0 1\n' > sites.xyz
sapwood voronoi sites.xyz -o a.ppm
