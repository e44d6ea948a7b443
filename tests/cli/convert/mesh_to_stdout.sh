sapwood convert quad.obj --format stl
