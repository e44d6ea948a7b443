sapwood pairs -r 1
