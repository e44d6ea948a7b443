sapwood convert queries.xyz --precision float64 -q -o q.npy
sapwood build five.xyz -q -o five.sap && sapwood nearest five.sap q.npy
