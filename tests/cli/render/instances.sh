# Three cones of one mesh, one of them mirrored, so that it is a mesh of its own; and a picture of heat, which has one tree.
cones_gltf > cones.gltf
sapwood render cones.gltf -o a.ppm --size 24x16 --samples 4 --json -q | grep -E '"(triangles|instances|meshes|width)"'
sapwood render cones.gltf -o heat.ppm --size 24x16 --samples 4 --heat --json -q | grep -E '"(triangles|instances|meshes|width)"'
sapwood convert cones.gltf -o cones.obj -q
sapwood render cones.obj -o b.ppm --size 24x16 --samples 4 -q
[ "$(cmp -l a.ppm b.ppm | wc -l)" -lt 12 ] && echo it looks as its triangles do
sapwood render cones.gltf -o a.ppm --size 24x16 --samples 4 2>&1 | sed -E 's/in [0-9.e-]+ s/in T s/g'
