sapwood nearest five.xyz -o ids.pcd
