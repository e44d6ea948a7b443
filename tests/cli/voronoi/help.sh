sapwood help voronoi
