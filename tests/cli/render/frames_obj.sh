# Numbered files may have other triangles, and would have origins of their own: the first one's counts.
for i in 7 8 9; do
  printf 'v %d.01 0 0\nv %d.01 0 0\nv 500000.01 1 0\nf 1 2 3\n' $((500000 - i)) $((500000 + i)) > mesh_0$i.obj
done
printf 'v 500000.01 2 0\nf 1 2 4\n' >> mesh_09.obj
view="--size 16x8 --samples 1 --eye 500000,1,30 --at 500000,1,0"
sapwood render mesh_%02d.obj -o a.ppm $view --frames 7:10 && ls a-*
origin=$(sapwood render mesh_07.obj -o first.ppm $view --origin auto 2>&1 | sed -n 's/.*the origin is //p')
echo "$origin"
sapwood render mesh_09.obj -o alone.ppm $view --origin "$origin" -q && cmp alone.ppm a-009.ppm && echo as alone
