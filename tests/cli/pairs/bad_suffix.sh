for name in p.ply p.pcd p p.obj; do sapwood pairs five.xyz -r 1 -o $name; done
