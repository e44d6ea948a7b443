sapwood nearest five.xyz queries.xyz -k 7 -q --distances -  --format xyz
