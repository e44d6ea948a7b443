sapwood compact missing.raw --size 7,7,7 --level 100 -o a.dat
