(ulimit -v 4000000 && "$SAPWOOD" --version) > /dev/null 2>&1 || exit 77 # a sanitizer needs more
(ulimit -v 4000000 && sapwood nearest five.xyz queries.xyz -k 2147483647 --device cpu)
