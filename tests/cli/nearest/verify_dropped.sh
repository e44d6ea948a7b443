sapwood nearest twice.csv -k 2 --drop-duplicates --verify
