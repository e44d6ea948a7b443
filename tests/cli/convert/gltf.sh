# A glTF at rest, also from standard input, becomes a mesh.
moving_gltf | sapwood convert - --input-format gltf -o at_rest.obj -q && cat at_rest.obj
moving_gltf > walk.data
sapwood info walk.data --input-format gltf
sapwood convert at_rest.obj -o again.gltf
