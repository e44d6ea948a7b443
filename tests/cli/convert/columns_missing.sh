sapwood convert places.csv --columns lon,height
