# Every pair of a point near 0 and its mirror image near 3 lies around the end of the period.
printf '0.1 1 1\n2.9 1 1\n1.5 1 1\n' > p.xyz && sapwood correlate p.xyz --radii 0.25,2 --period 3,0,0 && sapwood correlate p.xyz p.xyz --radii 0.25,2 --period 3,0,0 --json | grep -A5 period && sapwood correlate p.xyz --radii 0.25,2
