printf 'v 0 0 0\nf 1 2 3\n' > bad.obj; sapwood info bad.obj
