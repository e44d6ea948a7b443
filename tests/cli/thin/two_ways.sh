sapwood thin five.xyz --disks 2 --farthest 3
