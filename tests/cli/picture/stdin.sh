sapwood picture - -o - --size 64x48 < cube.ply | cksum
