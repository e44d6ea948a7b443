# Whole numbers are digits only.
for number in 1e1 0x10 +3 -3 3.0 '' 99999999999999999999; do
  sapwood nearest five.xyz -k "$number" 2>&1 | head -n 1
done
sapwood nearest five.xyz --device cuda:1e0
