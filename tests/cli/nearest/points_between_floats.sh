# 481234.6 keeps its digits in a float, but lies 6 mm away there: too far for points 10 cm apart.
printf '481234.6 5431234.2\n481234.7 5431234.2\n' > points.xyz
echo 481234.6500001 5431234.2 > q.xyz
sapwood nearest points.xyz q.xyz --distances d.csv --format csv -q
cat d.csv
sapwood info points.xyz | grep precision
sapwood info points.xyz --precision float32 | grep precision
