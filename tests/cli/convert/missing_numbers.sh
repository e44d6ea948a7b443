printf "x,y\n1,NA\nnull,2\nN/A,3\n" > m.csv; sapwood convert m.csv
sapwood convert m.csv --drop-nonfinite
printf "a;\"b; in m\";x\n1;2;3\n" > q.csv; sapwood convert q.csv --columns "b; in m,x"
