# A pipe has no suffix that says what columns hold.
printf "1 2 3 255 0 0\n" > p.xyzrgb; sapwood convert p.xyzrgb
sapwood convert - < p.xyzrgb
sapwood convert - --columns 1,2,3 < p.xyzrgb
printf "1\n1 2 3 9\n" > p.txt; sapwood convert p.txt
