sapwood distance five.xyz queries.xyz -r 0
