printf "0.2 0.3 5 0 0 -1\n0.2 0.3 5 0 0 1\n0.75 0.5 1 0 0 -2\n" > r.xyz; sapwood trace quad.obj r.xyz -q -o h.npy && head -c 128 h.npy | tail -c 118 && tail -c 48 h.npy | od -An -t f4 -w16
