# A file of points has no triangles.
sapwood closest flat.xyz queries.xyz
