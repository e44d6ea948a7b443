printf "0.2 0.3 5 0 0 -1\n" > r.xyz; sapwood trace tetrahedron.tree r.xyz --quality fast
