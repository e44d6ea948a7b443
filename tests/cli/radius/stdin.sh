sapwood radius five.xyz - -r 2 --count < queries.xyz
