sapwood convert quad.obj --columns 1,2
