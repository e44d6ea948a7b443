sapwood bench --points 200 --queries 50 > /dev/full
