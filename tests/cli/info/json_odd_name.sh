cp five.xyz $'a"b\\\xff\xc3\xa9.xyz' && sapwood info $'a"b\\\xff\xc3\xa9.xyz' --json | sed -n 3p
