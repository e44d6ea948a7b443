printf "0\n2\n5\n" > radii.csv; show queries.xyz | wc -l
sapwood radius five.xyz queries.xyz --radii radii.csv --sorted --verify
