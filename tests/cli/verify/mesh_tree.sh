sapwood verify tetrahedron.tree
sapwood verify tetrahedron.tree --json
