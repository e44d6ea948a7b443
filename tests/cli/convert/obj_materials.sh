sapwood convert quad.obj -q -o new.obj && cat new.obj new.mtl
