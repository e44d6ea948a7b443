sapwood outliers five.xyz -k 2 --ratio 1 -o n.obj
