printf 'X' | dd of=tetrahedron.tree bs=1 seek=600 conv=notrunc status=none
sapwood verify tetrahedron.tree
