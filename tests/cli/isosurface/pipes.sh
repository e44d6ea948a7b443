volume 7 > v.raw; sapwood isosurface - --size 7,7,7 --type u8 --level 100 -o - < v.raw | sapwood info - | head -3
