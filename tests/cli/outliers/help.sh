sapwood outliers --help
