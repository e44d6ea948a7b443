sapwood thin five.xyz --disks 2 --counts
