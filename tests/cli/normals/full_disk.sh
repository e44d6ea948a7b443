[ -w /dev/full ] || exit 77
sapwood normals cube.ply -k 4 -o - --format csv > /dev/full
