python=
for candidate in /usr/bin/python3 python3; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; break; fi
done
[ "$python" ] || exit 77
"$python" -c 'import numpy; numpy.save("r.npy", numpy.array([[0.2, 0.3, 5, 0, 0, -1], [0.2, 0.3, 5, 0, 0, 1], [0.75, 0.5, 1, 0, 0, -2]], "f4"))'
sapwood trace quad.obj r.npy -q -o h.npy
"$python" -c '
import numpy
hits = numpy.load("h.npy")
print(hits.dtype.names, hits.shape, hits["triangle"].tolist(), hits["t"].tolist(), hits["v"].tolist())'
