sapwood radius five.xyz queries.xyz -r 3 --box 0,0,0,1,2,3 --verify --ids ids.csv -o offsets.csv && cat offsets.csv ids.csv
sapwood radius five.xyz queries.xyz -r 3 --box 0,0,0,1,2,3 --count
