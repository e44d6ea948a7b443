sapwood cluster absent.xyz -r 2
