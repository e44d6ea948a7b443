sapwood trace quad.obj five.xyz
