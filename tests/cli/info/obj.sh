sapwood info quad.obj
