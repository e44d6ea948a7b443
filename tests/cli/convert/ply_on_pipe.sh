cat faces.ply | sapwood convert - -o all.ply && sapwood info all.ply | grep triangles
