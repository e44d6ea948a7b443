sapwood --version >&-
