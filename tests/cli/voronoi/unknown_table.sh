sapwood voronoi missing.xyz -o a.ppm --ids a.npy --distances a.dat
