sapwood thin five.xyz -s 3 --point nearest --counts -o t.csv -q && cat t.csv
