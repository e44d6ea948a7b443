sapwood info tetrahedron.tree; sapwood info tetrahedron.tree --json
