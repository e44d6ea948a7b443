printf "id,x,y,z\n7,1,2,3\n8,4,5,6\n" > p.csv
printf "up\tlon\tlat\n6\t4\t5\n3\t1\t2\n" > q.tsv
sapwood nearest p.csv q.tsv --query-columns lon,lat,up
sapwood nearest p.csv q.tsv --columns x,y,z
sapwood nearest p.csv q.tsv --query-columns 1,1,2
sapwood nearest two.npz two.npz --member a --query-member points
sapwood nearest two.npz five.xyz --member points --columns 1,2,3
sapwood nearest five.xyz two.npz --query-member b
tr "\t" ";" < q.tsv | sapwood nearest p.csv - --query-format csv --query-columns 2,3,1
for option in "--query-columns 1" "--query-member a" "--query-format csv"; do sapwood nearest five.xyz $option; done
sapwood nearest p.csv q.tsv --columns x,,y
