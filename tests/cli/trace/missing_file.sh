sapwood trace quad.obj none.npy
