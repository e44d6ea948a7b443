closed_pipe sapwood project five.xyz
