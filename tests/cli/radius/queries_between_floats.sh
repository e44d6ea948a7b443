printf '0 5431234 0\n0 5431235 0\n' > points.xyz
printf '0 5431234.6 0\n0 5431234.4 0\n' > q.xyz
sapwood radius points.xyz q.xyz -r 0.45
sapwood radius points.xyz q.xyz -r 0.45 --count --verify
