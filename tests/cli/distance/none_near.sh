printf '90 90 90\n' >far.xyz
sapwood distance five.xyz far.xyz -r 1 --both --json -o o.ply
