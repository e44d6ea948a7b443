sapwood closest --help
