echo "1 2" > two.xyz
echo "1 2 3 4" > four.xyz
sapwood voronoi two.xyz
sapwood voronoi two.xyz -o picture.gif
sapwood voronoi four.xyz -o picture.ppm
sapwood voronoi two.xyz -o picture.ppm --slice 3
sapwood voronoi two.xyz -o picture.ppm --style stars
sapwood voronoi two.xyz -o picture.ppm --device opengl
sapwood build two.xyz -o two.sap --device gl
