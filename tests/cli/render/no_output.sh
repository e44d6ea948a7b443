sapwood render quad.obj
