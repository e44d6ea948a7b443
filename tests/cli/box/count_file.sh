printf "0,0,0,1,1,1\n" > boxes.csv
sapwood box five.xyz boxes.csv -o n.csv -q && cat n.csv
