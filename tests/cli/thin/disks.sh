sapwood thin five.xyz --disks 2 --seed 3
