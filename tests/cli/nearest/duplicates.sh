sapwood nearest twice.csv -k 2
