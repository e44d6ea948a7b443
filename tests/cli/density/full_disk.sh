[ -w /dev/full ] || exit 77
sapwood density five.xyz -r 3 -o - --format csv > /dev/full
