# Cells of sites a metre apart look the same wherever they are.
printf '0.1 0.2\n1.3 0.4\n0.7 1.2\n' > near.xyz
printf '481230.1 5431230.2\n481231.3 5431230.4\n481230.7 5431231.2\n' > far.xyz
for sites in near far; do sapwood voronoi $sites.xyz -o $sites.ppm --ids $sites.csv --size 20x20 -q; done
cmp near.csv far.csv
tail -n +2 far.csv | tr ',' '\n' | sort | uniq -c
