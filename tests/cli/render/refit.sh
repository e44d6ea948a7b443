# Refitted trees draw the same pictures; where the files have other triangles, or rays would cost too much, trees are built.
hills() { # vertices of rows and columns, with a wave that moves; then their triangles
  awk -v t="$1" 'BEGIN { n = 24
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) printf "v %g %g %g\n", i + t * sin(j), j, 3 * sin((i + t) / 3)
    for (i = 1; i < n; i++) for (j = 1; j < n; j++) {
      a = i * n + j + 1; printf "f %d %d %d\nf %d %d %d\n", a, a - 1, a - n, a - 1, a - n - 1, a - n } }'
}
for i in 0 1 2 3; do hills 0.$((2 * i)) > mesh_$i.obj; done
printf 'f 1 2 200\n' >> mesh_3.obj
view="--size 16x8 --samples 1 --device cpu"
sapwood render mesh_%d.obj -o a.ppm $view --frames 0:4 --refit 100 2>&1 | sed 's/loss [2-9]/loss MORE/; s/loss 1\.[0-9]*/loss SOME/'
sapwood render mesh_%d.obj -o b.ppm $view --frames 0:4 -q
for i in 0 1 2 3; do cmp a-00$i.ppm b-00$i.ppm && echo same; done
sapwood render mesh_%d.obj -o a.ppm $view --frames 0:3 --refit 1.001 -q --json | grep -c '"loss": 1[^.]*$'
sapwood render faces.ply -o a.ppm $view --orbit 2 --refit 100 | grep -o 'loss.*'
sapwood render faces.ply -o a.ppm $view --refit 2 2>&1 | grep -v ' --help'
sapwood render faces.ply -o a.ppm $view --orbit 2 --refit 0 2>&1 | grep -v ' --help'
