sapwood nearest quad.obj
