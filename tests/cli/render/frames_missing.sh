for i in 0 2; do cp faces.ply mesh_$i.ply; done
sapwood render mesh_%d.ply -o a.ppm --size 8x5 --samples 1 --frames 0:3 -q
code=$?
ls
exit $code
