sapwood pairs absent.xyz -r 1
