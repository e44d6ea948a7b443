sapwood distance five.xyz queries.xyz --period 0,0,4.5
