sapwood convert five.xyz -o five.stl
