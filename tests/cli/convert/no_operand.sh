sapwood convert --json
