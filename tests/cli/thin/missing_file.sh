sapwood thin absent.xyz -s 1.5
