sapwood convert five.xyz --format pcd -o five.pcd
