sapwood relax --help
