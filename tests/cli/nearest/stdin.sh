sapwood nearest five.xyz - -k 2 < queries.xyz
