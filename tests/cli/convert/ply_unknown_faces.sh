sapwood convert trifans.ply -o all.ply
