head -c 200 cube.ply > cut.ply; sapwood info cut.ply
