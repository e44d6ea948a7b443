sapwood distance five.xyz queries.xyz --quantile 2
