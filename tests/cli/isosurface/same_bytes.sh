# Whatever the threads, the vectors and the file: the same mesh. With a GPU, there too.
volume 40 > v.raw
(head -c 0 v.raw; printf '123456789'; cat v.raw) > w.raw
options="--size 40,40,40 --type u8 --level 99.5 -q"
sapwood isosurface v.raw $options -o a.ply --device cpu --threads 1 --simd portable &&
  sapwood isosurface v.raw $options -o b.ply --device cpu --threads 3 &&
  sapwood isosurface w.raw $options -o c.ply --skip 9 || exit
cmp a.ply b.ply && cmp a.ply c.ply
