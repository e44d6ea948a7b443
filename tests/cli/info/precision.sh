sapwood info five.xyz --precision float64 | grep precision && sapwood info five.xyz | grep precision
