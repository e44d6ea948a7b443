# Three cones of one mesh, one of them mirrored, so that it is a mesh of its own; and a picture of heat, which has one tree.
cat > cones.gltf <<'GLTF'
{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}, {"mesh": 0, "translation": [2.5, 0, 0]},
  {"mesh": 0, "translation": [0, 0, 2.5], "scale": [-1, 1, 1]}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 6}]}],
 "buffers": [{"byteLength": 240, "uri": "data:;base64,AAAAAAAAgD8AAAAAAACAPwAAAAAAAACAso9wPwAAAABEHa++fRtEPwAAAAC7jSS/AAAAPwAAAADXs12/1NAxPgAAAABcHHy/1NAxvgAAAABcHHy/AAAAvwAAAADXs12/fRtEvwAAAAC7jSS/so9wvwAAAABEHa++AACAvwAAAAAyMQ2lso9wvwAAAABEHa8+fRtEvwAAAAC7jSQ/AAAAvwAAAADXs10/1NAxvgAAAABcHHw/1NAxPgAAAABcHHw/AAAAPwAAAADXs10/fRtEPwAAAAC7jSQ/so9wPwAAAABEHa8+AACAPwAAAAAyMY0l"}],
 "bufferViews": [{"buffer": 0, "byteLength": 240}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 20}]}
GLTF
sapwood render cones.gltf -o a.ppm --size 24x16 --samples 4 --json -q | grep -E '"(triangles|instances|meshes|width)"'
sapwood render cones.gltf -o heat.ppm --size 24x16 --samples 4 --heat --json -q | grep -E '"(triangles|instances|meshes|width)"'
sapwood convert cones.gltf -o cones.obj -q
sapwood render cones.obj -o b.ppm --size 24x16 --samples 4 -q
[ "$(cmp -l a.ppm b.ppm | wc -l)" -lt 12 ] && echo it looks as its triangles do
sapwood render cones.gltf -o a.ppm --size 24x16 --samples 4 2>&1 | sed -E 's/in [0-9.e-]+ s/in T s/g'
