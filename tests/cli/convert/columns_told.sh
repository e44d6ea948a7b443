sapwood convert places.csv
