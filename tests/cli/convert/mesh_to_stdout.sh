sapwood convert quad.obj --format stl | head -c 10; echo; sapwood convert quad.obj --format ply | head -c 3
