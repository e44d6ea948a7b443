sapwood align --help
