sapwood convert places.csv --columns lon,lat
