# The file that is at fault is named, whichever of the two it is.
sapwood align five.xyz nan.xyz
sapwood align nan.xyz five.xyz --global
sapwood align five.xyz nan.xyz --global
sapwood align - five.xyz < nan.xyz
sapwood align five.xyz - < nan.xyz
sapwood align five.xyz flat.xyz
sapwood align flat.xyz five.xyz
sapwood align five.xyz - < flat.xyz
sapwood build flat.xyz -o flat.sap -q
sapwood align five.xyz flat.sap
sapwood build five.xyz --period 9,9,9 -o turning.sap -q
sapwood align five.xyz turning.sap
sapwood align five.xyz turning.sap --global
printf '2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 1\n' > start.txt
sapwood align five.xyz five.xyz --start start.txt
# Points that are left out are no queries.
sapwood align nan.xyz five.xyz --drop-nonfinite
