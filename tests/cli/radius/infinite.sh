sapwood radius five.xyz queries.xyz -r inf --count
