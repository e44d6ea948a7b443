sapwood pairs --help
