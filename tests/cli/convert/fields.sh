printf "x,y,z,intensity,nx,ny,nz,red,green,blue\n1,2,3,500,0,0,1,255,0,9\n4,5,6,7,1,0,0,0,200,1\n" > a.csv
for f in ply pcd npy las tsv csv; do sapwood convert a.csv -o b.$f -q; sapwood convert b.$f -o c.csv -q; echo "$f: $(cut -d, -f1-3 c.csv | cksum)"; head -2 c.csv; done
