printf "x,y,z,i\n1,2,3,4\nnan,2,3,5\n7,8,9,6\n" > a.csv; sapwood convert a.csv --drop-nonfinite -o b.csv; cat b.csv
