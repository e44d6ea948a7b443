sapwood convert five.xyz --json
