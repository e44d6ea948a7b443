# From 1 s on the triangle stands still.
moving_gltf > walk.gltf
sapwood render walk.gltf -o walk.ppm --size 16x8 --samples 1 --frames 1:5 --fps 2 && ls walk-*
cmp -s walk-001.ppm walk-002.ppm || echo it moves
cmp walk-002.ppm walk-004.ppm && echo it stands
