sapwood nearest places.csv places.csv --columns 3,2 -k 2
