sapwood convert quad.obj --precision float64 -o quad.ply
