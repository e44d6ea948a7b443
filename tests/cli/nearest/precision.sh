sapwood convert queries.xyz --precision float64 -q -o q.npy
sapwood nearest five.xyz q.npy -q && sapwood nearest five.xyz q.npy --precision float32 &&
  sapwood nearest five.xyz q.npy --precision float64 --verify --json | grep precision
