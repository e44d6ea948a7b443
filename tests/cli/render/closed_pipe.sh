closed_pipe sapwood render quad.obj -o - --size 400x400 --samples 1
