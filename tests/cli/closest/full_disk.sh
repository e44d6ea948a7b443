closed_cube > cube.obj
[ -w /dev/full ] || exit 77
printf '0.1 0.2 5\n' > q.xyz
sapwood closest cube.obj q.xyz -o - --format csv > /dev/full
