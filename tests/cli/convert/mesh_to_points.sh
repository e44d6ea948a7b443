sapwood convert quad.obj -o quad.csv && cat quad.csv; sapwood convert faces.ply
