sapwood trace quad.obj
