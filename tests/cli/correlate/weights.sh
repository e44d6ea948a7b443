# Points against queries, weighted: products of weights; then with one weight for each of the wrong number of points.
seq 5 > w.xyz; seq 3 > q.xyz
sapwood correlate five.xyz -r 0,1,9 --weights w.xyz
sapwood correlate five.xyz queries.xyz -r 0,1,9 --weights w.xyz --query-weights q.xyz
sapwood correlate five.xyz queries.xyz -r 0,1,9 --query-weights q.xyz
sapwood correlate five.xyz queries.xyz -r 0,1,9 --weights q.xyz
sapwood correlate five.xyz -r 0,1,9 --query-weights q.xyz
