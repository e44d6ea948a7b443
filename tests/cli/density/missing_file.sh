sapwood density absent.xyz -r 3
