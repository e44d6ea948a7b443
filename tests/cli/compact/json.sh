volume 7 > v.raw; sapwood compact v.raw --size 7,7,7 --type u8 --level 100 --json -q
