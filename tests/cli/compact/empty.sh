: > e.raw; sapwood compact e.raw --size 0,4,4 --type u8 --level 1 -o - --format csv --picture e.ppm && head -c 9 e.ppm
