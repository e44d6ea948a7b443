[ -w /dev/full ] || exit 77
sapwood picture cube.ply -o - --size 640x480 > /dev/full
