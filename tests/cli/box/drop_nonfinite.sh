printf "nan 0 0\n1 1 1\n2 2 2\n" > some.xyz
sapwood box some.xyz --drop-nonfinite --lower 0,0,0 --upper 3,3,3 --ids - --format xyz
