sapwood radius five.xyz queries.xyz -r 1 -o - --ids -
