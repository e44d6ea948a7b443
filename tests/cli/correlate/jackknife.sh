# Errors by leaving out one block of space after the other: of points among themselves, and of two files over blocks of a third.
lattice 5 > l.xyz; lattice 3 > s.xyz
sapwood correlate l.xyz -r 0,1,2 --jackknife 3 --blocks b.csv && cat b.csv
sapwood correlate l.xyz s.xyz -r 0,1,2 --bins --jackknife 4 --cells l.xyz -o e.csv --blocks b.csv && cat e.csv b.csv
sapwood correlate l.xyz -r 0,1 --jackknife 2 --json | grep -A 4 errors
