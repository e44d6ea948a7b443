closed_pipe sapwood --version
