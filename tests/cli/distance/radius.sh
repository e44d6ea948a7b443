sapwood distance five.xyz queries.xyz -r 2 -o d.csv; cat d.csv
