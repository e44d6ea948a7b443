sapwood render tetrahedron.tree -o picture.ppm
