sapwood build --help
