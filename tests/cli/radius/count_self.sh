sapwood radius five.xyz -r 4.5 --count && sapwood radius five.xyz -r 4.5 --count --with-self
