land 0 1 3 > land.xyz
sapwood project land.xyz --count 3 --radius 0.2 --median --push 0.1 --tolerance 0.01 --json -o m.csv | grep -e steps -e made; wc -l < m.csv
