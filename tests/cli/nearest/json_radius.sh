sapwood nearest five.xyz --json -r 2 | grep radius; sapwood nearest five.xyz --json -r inf | grep radius
