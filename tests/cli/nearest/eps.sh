lattice 6 > l.xyz && sapwood nearest l.xyz queries.xyz -k 4 --eps 0.5 --json | grep -o "\"found\": *[0-9]*"
