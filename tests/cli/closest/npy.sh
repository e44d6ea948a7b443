closed_cube > cube.obj
printf '0.1 0.2 5\n' > q.xyz
sapwood closest cube.obj q.xyz -q -o c.npy && head -c 192 c.npy | tr -d '\000-\037' | cut -c 7-150 && tail -c 20 c.npy | od -An -t f4 -w20
