cp twice.csv data.bin; sapwood info data.bin --input-format csv
