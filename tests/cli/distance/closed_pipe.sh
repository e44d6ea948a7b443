closed_pipe sapwood distance five.xyz queries.xyz
