sapwood convert quad.obj -o quad.stl && sapwood info quad.stl && sapwood convert quad.stl -q -o back.obj && cat back.obj
