# What the cases share.

sapwood() { "$SAPWOOD" "$@"; }

# The numbers of a file of points or ids, as text.
show() { "$SAPWOOD" convert "$1" | cat; }

# Runs a command whose stdout is a pipe that nobody reads any more.
closed_pipe() {
  mkfifo pipe
  exec 3<>pipe 4>pipe 3>&-
  "$@" >&4
}

# Runs a command that can write no more than 1 KB to any file.
small_disk() { (trap '' XFSZ; ulimit -f 1; "$@"); }

# lattice N: the points of an N x N x N lattice.
lattice() { awk -v n="$1" 'BEGIN { for (x = 0; x < n; x++) for (y = 0; y < n; y++) for (z = 0; z < n; z++) print x, y, z }'; }

# What stays the same on every machine of the lines of bench: what was measured.
mask_bench() { sed -E -e 's/(cpu, [a-z0-9]+|cuda:[0-9]+), threads [0-9]+/DEVICE, threads N/' -e 's/^([a-z ]{14}) .*/\1 TIMES/'; }

# volume SIDE: raw samples of 8 bits, a ball of 200 in the middle of zeros.
volume() { awk -v n="$1" 'BEGIN { for (z = 0; z < n; z++) for (y = 0; y < n; y++) for (x = 0; x < n; x++) { m = (n - 1) / 2; d = (x - m) ^ 2 + (y - m) ^ 2 + (z - m) ^ 2; printf "%s", d < (m - 1) ^ 2 ? "\310" : "." } }' | tr . '\0'; }
closed_cube() {  # closed_cube: from -1 to 1, as triangles
  for x in -1 1; do for y in -1 1; do for z in -1 1; do echo "v $x $y $z"; done; done; done
  echo 'f 1 2 4 3
f 5 7 8 6
f 1 5 6 2
f 3 4 8 7
f 1 3 7 5
f 2 6 8 4'
}

# land FROM TO SEED: 3000 points of hills and hollows over a unit square, whose x lies from FROM to TO; the land is the same.
land() { awk -v from="$1" -v to="$2" -v seed="$3" '
  function next_one() { state = (state * 1103515245 % 2147483648 + 12345) % 2147483648; return state / 2147483648 }
  BEGIN {
    state = 5
    for (i = 0; i < 24; i++) { u[i] = next_one(); v[i] = next_one(); s[i] = 0.03 + 0.08 * next_one() }
    state = seed
    for (n = 0; n < 3000; n++) {
      x = from + (to - from) * next_one(); y = next_one(); z = 0
      for (i = 0; i < 24; i++) { f = ((x - u[i]) ^ 2 + (y - v[i]) ^ 2) / s[i] ^ 2; z += (i % 3 ? 1 : -1) * s[i] / (1 + f) ^ 2 }
      printf "%.4f %.4f %.4f\n", x, y, z
    }
  }'; }

# A glTF of a triangle that goes 2 to the right within a second, in the clip "walk".
moving_gltf() {
  cat <<'GLTF'
{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
 "animations": [{"name": "walk", "samplers": [{"input": 1, "output": 2}],
  "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}],
 "buffers": [{"byteLength": 68, "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAABAAAAAAAAAAAA="}],
 "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 8},
  {"buffer": 0, "byteOffset": 44, "byteLength": 24}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3},
  {"bufferView": 1, "componentType": 5126, "type": "SCALAR", "count": 2},
  {"bufferView": 2, "componentType": 5126, "type": "VEC3", "count": 2}]}
GLTF
}

# A glTF of three cones of one mesh, one of them mirrored.
cones_gltf() {
  cat <<'GLTF'
{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}, {"mesh": 0, "translation": [2.5, 0, 0]},
  {"mesh": 0, "translation": [0, 0, 2.5], "scale": [-1, 1, 1]}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 6}]}],
 "buffers": [{"byteLength": 240, "uri": "data:;base64,AAAAAAAAgD8AAAAAAACAPwAAAAAAAACAso9wPwAAAABEHa++fRtEPwAAAAC7jSS/AAAAPwAAAADXs12/1NAxPgAAAABcHHy/1NAxvgAAAABcHHy/AAAAvwAAAADXs12/fRtEvwAAAAC7jSS/so9wvwAAAABEHa++AACAvwAAAAAyMQ2lso9wvwAAAABEHa8+fRtEvwAAAAC7jSQ/AAAAvwAAAADXs10/1NAxvgAAAABcHHw/1NAxPgAAAABcHHw/AAAAPwAAAADXs10/fRtEPwAAAAC7jSQ/so9wPwAAAABEHa8+AACAPwAAAAAyMY0l"}],
 "bufferViews": [{"buffer": 0, "byteLength": 240}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 20}]}
GLTF
}
