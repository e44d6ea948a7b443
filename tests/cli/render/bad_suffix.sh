sapwood render quad.obj -o a.gif
