tr "\n" "\r" < strips.ply > cr.ply; sapwood convert cr.ply -o all.ply && sapwood info all.ply | grep triangles
