sapwood outliers
