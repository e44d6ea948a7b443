printf "x,y,z,intensity,red,green,blue,gps_time,amplitude\n1,2,3,500,255,0,9,0.5,0.25\n4,5,6,7,0,200,1,1e9,-1\n" > a.csv
sapwood convert a.csv -o a.las; od -A d -t x1 -v a.las | head -40
sapwood convert a.las -o b.csv -q; cat b.csv
sapwood convert a.las -o b.las -q; cmp a.las b.las
