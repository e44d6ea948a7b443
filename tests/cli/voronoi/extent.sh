# The pixels of an extent, the upper row first: their middles are at x 0.5, 1.5, 2.5, 3.5 and y 3, 1, -1.
printf '0 0\n3 0\n0 3\n' > sites.xyz
sapwood voronoi sites.xyz --extent 0,-2,4,4 --size 4x3 -o a.ppm --ids ids.npy --device cpu -q --json | grep -A5 extent
show ids.npy
echo "0 0 5" | sapwood voronoi - --extent -1,-1,1,1 --size 4x4 -o b.ppm --json -q --device cpu | grep -A6 extent
sapwood voronoi sites.xyz --extent 0,0,0,4 -o a.ppm
sapwood voronoi sites.xyz --extent 0,0,4 -o a.ppm
