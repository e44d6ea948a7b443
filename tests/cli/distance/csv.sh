sapwood distance five.xyz queries.xyz -o d.csv && cat d.csv
