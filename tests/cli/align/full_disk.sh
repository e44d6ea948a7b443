[ -w /dev/full ] || exit 77
sapwood align five.xyz five.xyz -o - --format csv > /dev/full
