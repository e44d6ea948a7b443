closed_pipe sapwood bench --points 200 --queries 50
