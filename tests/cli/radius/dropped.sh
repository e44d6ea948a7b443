sapwood radius twice.csv -r 1 --drop-duplicates --with-self --verify && sapwood radius twice.csv -r 1 --drop-duplicates --count --verify
