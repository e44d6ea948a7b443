cp quad.obj turn-001.ppm
sapwood render turn-001.ppm --input-format obj -o turn.ppm --orbit 2 --size 2x2
