printf '0 0\nnan 0\n1 1\n0 inf\n0.5 3\n' > holes.xyz
sapwood voronoi holes.xyz -o a.ppm --ids ids.csv --size 20x20 --drop-nonfinite
tail -n +2 ids.csv | tr ',' '\n' | sort | uniq -c
