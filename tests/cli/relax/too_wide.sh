for x in 0 5431234.37 10862468.37; do
  lattice 3 | awk -v x=$x '{ printf "%.3f %.3f %.3f\n", x + $1 / 100, $2 / 100, 0 }' | sort -u
done > clouds.xyz
sapwood relax clouds.xyz
