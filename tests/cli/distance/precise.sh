printf '5431234.61 481234.57 1\n' > a.xyz
printf '5431234.86 481234.57 1\n' > b.xyz
sapwood distance a.xyz b.xyz
