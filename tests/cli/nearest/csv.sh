sapwood nearest five.xyz queries.xyz -k 2 -q -o ids.csv --distances d2.csv && cat ids.csv d2.csv
