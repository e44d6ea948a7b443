sapwood nearest - queries.xyz -k 2 < five.xyz
