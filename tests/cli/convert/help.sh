sapwood convert --help
