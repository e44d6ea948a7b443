sapwood build five.xyz -q -o five.sap && sapwood bench five.sap queries.xyz | mask_bench
