tr "\n" "\r" < quad.obj > cr.obj; sapwood convert cr.obj -o all.ply && sapwood info all.ply | grep triangles
