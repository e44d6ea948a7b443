printf "0 0\n1 1\n" > s.xyz
sapwood voronoi s.xyz -o v.ppm --extent=-1e38,0,1e38,1 --size 8x8 
sapwood voronoi s.xyz -o v.ppm --extent=-1e39,0,1e38,1 --size 8x8
sapwood voronoi s.xyz -o v.ppm --slice 1e39
