closed_pipe sapwood radius five.xyz queries.xyz -r 2 --ids -
