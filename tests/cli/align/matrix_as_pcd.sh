sapwood align five.xyz five.xyz --transform t.pcd
