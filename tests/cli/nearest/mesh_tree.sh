sapwood nearest tetrahedron.tree
