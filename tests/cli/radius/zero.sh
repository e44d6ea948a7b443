sapwood radius twice.csv -r 0
