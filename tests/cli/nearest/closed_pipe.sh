closed_pipe sapwood nearest five.xyz queries.xyz -o -
