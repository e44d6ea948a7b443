sapwood bench --help
