closed_pipe sapwood info five.xyz
