# As many as are listed, of any radius; in both directions with --full.
lattice 6 > l.xyz
for r in 0 1 1.5 3 inf; do
  sapwood pairs l.xyz -r $r --count
  [ "$(sapwood pairs l.xyz -r $r --count)" = "$(sapwood pairs l.xyz -r $r | wc -l)" ] || echo "r $r: other pairs listed"
  [ "$(sapwood pairs l.xyz -r $r --count --full)" = "$(sapwood pairs l.xyz -r $r --full | wc -l)" ] || echo "r $r: other pairs with --full"
done
