# A file that is measured once more says nothing twice.
printf 'newmtl red\nKd 1 0 0\n' > far.mtl
printf 'mtllib far.mtl\nusemtl red\nv 481234.57 5431234.12 0\nv 481235.57 5431234.12 0\nv 481234.57 5431235.12 0\nf 1 2 3\n' > far.obj
sapwood convert far.obj -o out.stl
printf 'OFF\n' > short.off
sapwood convert short.off -o out.stl
printf '4OFF\n3 1 0\n0 0 0 2\n4 0 0 2\n0 4 0 2\n3 0 1 2\n' > weights.off
sapwood convert weights.off -o out.stl
