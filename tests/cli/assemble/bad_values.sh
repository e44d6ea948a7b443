sapwood assemble five.xyz queries.xyz --least-overlap 2
sapwood assemble five.xyz queries.xyz --overlap 0.5 --find-overlap
sapwood assemble five.xyz queries.xyz --global --start start.txt
sapwood assemble five.xyz queries.xyz --scale 1
sapwood assemble five.xyz queries.xyz -o moved.xyz
sapwood assemble five.xyz queries.xyz -o '{}.obj'
sapwood assemble five.xyz queries.xyz -o '{}.xyz'
mkdir folder && cp five.xyz folder && sapwood assemble five.xyz folder/five.xyz -o '{}.csv'
sapwood assemble five.xyz queries.xyz --transform t.pcd
sapwood assemble - - five.xyz
printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > start.txt
sapwood assemble five.xyz queries.xyz --start start.txt
sapwood assemble five.xyz queries.xyz --start start.txt --transform start.txt
sapwood build five.xyz -o five.sap -q && sapwood assemble five.xyz five.sap
