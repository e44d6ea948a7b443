sapwood convert no.ply -o no.xyz
