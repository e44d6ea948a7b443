closed_pipe sapwood convert five.xyz
