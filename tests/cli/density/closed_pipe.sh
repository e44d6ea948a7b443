closed_pipe sapwood density five.xyz -r 3
