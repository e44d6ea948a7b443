sapwood project --help
