# Everything that points have is kept; normals turn with them.
rounded() { awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++) if ($i ~ /e-/) $i = 0; print }' "$1"; }
printf 'x,y,z,intensity,nx,ny,nz,red,green,blue,gps_time\n0,0,0,7,1.0,0,0,10,20,255,0.25\n0,1,0,9,0,1.0,0,20,40,255,0.5\n-2,0,0,1,0,0,1.0,2,3,4,0.75\n0,0,4,2,0,0.0,1.0,5,6,7,1.5\n' > a.csv
printf '0 0 0\n1 0 0\n0 2 0\n0 0 4\n' > target.xyz
printf '0 1 0 0.125\n-1 0 0 0\n0 0 1 0\n0 0 0 1\n' > start.txt
sapwood align a.csv target.xyz --start start.txt -o b.csv -q && rounded b.csv
printf 'VERSION 0.7\nFIELDS x y z normal_x normal_y normal_z label\nSIZE 4 4 4 4 4 4 4\nTYPE F F F F F F U\nCOUNT 1 1 1 1 1 1 1\nWIDTH 4\nHEIGHT 1\nPOINTS 4\nDATA ascii\n0 0 0 1 0 0 5\n0 1 0 0 1 0 6\n-2 0 0 0 0 1 7\n0 0 4 0 0 1 8\n' > a.pcd
sapwood align a.pcd target.xyz --start start.txt -o b.pcd -q && sapwood convert b.pcd -o c.csv -q && rounded c.csv
