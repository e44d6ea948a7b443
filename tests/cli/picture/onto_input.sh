cp cube.ply cube.ppm; sapwood picture cube.ppm -o cube.ppm
