# Where there is OpenGL ES: what it cannot do.
sapwood radius five.xyz five.xyz -r 1 --count --device gl > out 2> why || exit 77
sapwood radius five.xyz -r 1 --device gl; sapwood radius five.xyz five.xyz -r 1 --metric l1 --device gl; sapwood radius five.xyz five.xyz -r 1 --precision float64 --device gl
