sapwood radius five.xyz queries.xyz -r 2 --count --format csv
