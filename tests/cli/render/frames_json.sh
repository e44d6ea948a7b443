moving_gltf > walk.gltf
sapwood render walk.gltf -o a.ppm --size 8x5 --samples 1 --frames 0:2 --json
