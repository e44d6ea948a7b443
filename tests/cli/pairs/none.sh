# No pairs: one point, or a radius that reaches none.
echo 1 2 3 > one.xyz
sapwood pairs one.xyz -r 5
sapwood pairs one.xyz -r 5 --count
sapwood pairs five.xyz -r 0 -o p.csv
cat p.csv
