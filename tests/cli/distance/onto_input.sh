sapwood distance five.xyz queries.xyz -o queries.xyz
