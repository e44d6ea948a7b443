printf '0.2 0.2 5 0 0 -1\n' > rays.xyz; sapwood trace quad.obj rays.xyz -q -o hits.npy; sapwood convert hits.npy --columns t,triangle; sapwood convert hits.npy
