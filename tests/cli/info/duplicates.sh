sapwood info twice.csv
