sapwood info bad.xyz
