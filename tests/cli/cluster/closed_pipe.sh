closed_pipe sapwood cluster five.xyz -r 2
