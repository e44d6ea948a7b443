# What would be collected is counted before: around queries, around the points themselves, as pairs, of a saved tree.
lattice 10 > l.xyz
sapwood build l.xyz -q -o l.sap
for options in '' --with-self --pairs; do sapwood radius l.xyz -r inf $options --limit 400000 --ids ids.npy; done
sapwood radius l.xyz five.xyz -r inf --limit 4999 --ids ids.npy
sapwood radius l.xyz five.xyz -r inf --limit 5000 --ids ids.npy
sapwood radius l.xyz -r 1 --limit 5399 --ids ids.npy
sapwood radius l.xyz -r 1 --limit 5400 --ids ids.npy
sapwood radius l.xyz -r 1 --pairs --limit 2700 --ids ids.npy
for options in '' --with-self --pairs; do sapwood radius l.sap -r 16 $options --limit 400000 --ids ids.npy; done
for options in "" --pairs; do sapwood radius l.sap -r 1 $options --limit 2600 --ids ids.npy; done
sapwood radius l.xyz -r 1 --limit 5 --count
