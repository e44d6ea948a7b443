closed_pipe sapwood outliers five.xyz -k 2 --ratio 1
