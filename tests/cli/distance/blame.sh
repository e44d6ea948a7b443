# The file that is at fault is named, whichever of the two it is.
printf '1e300 0 0\n1 2 3\n' > huge.xyz
sapwood distance nan.xyz five.xyz
sapwood distance five.xyz nan.xyz --both | head -0
sapwood distance - five.xyz < nan.xyz
sapwood distance five.xyz - --both < nan.xyz
sapwood distance huge.xyz five.xyz
sapwood distance five.xyz huge.xyz --both
