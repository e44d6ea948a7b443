printf "1\n" > radii.csv && sapwood radius five.xyz five.xyz --radii radii.csv
