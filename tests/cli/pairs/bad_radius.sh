for r in -1 nan x ""; do sapwood pairs five.xyz -r "$r"; done
