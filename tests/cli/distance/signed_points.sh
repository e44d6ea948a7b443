sapwood distance five.xyz queries.xyz --signed
