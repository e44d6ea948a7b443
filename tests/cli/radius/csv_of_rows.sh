sapwood radius five.xyz queries.xyz -r 2 --format csv
