sapwood box --help
