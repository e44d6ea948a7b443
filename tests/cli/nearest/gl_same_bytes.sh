# Where there is OpenGL ES: the CPU's neighbours.
awk 'BEGIN { for (i = 0; i < 500; i++) print i * 37 % 101, i * 53 % 97, i * 11 % 89 }' > p.xyz
sapwood nearest p.xyz queries.xyz -k 3 --device gl --columns 1,2,3 -q -o gl.npy --distances gl2.npy 2> why || exit 77
sapwood nearest p.xyz queries.xyz -k 3 --device cpu --columns 1,2,3 -q -o cpu.npy --distances cpu2.npy && cmp gl.npy cpu.npy && cmp gl2.npy cpu2.npy
sapwood nearest p.xyz queries.xyz -k 3 --device gl --split sliding-midpoint --columns 1,2,3 -q -o gl.npy --distances gl2.npy && cmp gl.npy cpu.npy && cmp gl2.npy cpu2.npy
