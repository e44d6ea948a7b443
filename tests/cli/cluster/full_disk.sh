[ -w /dev/full ] || exit 77
sapwood cluster five.xyz -r 2 -o - --format csv > /dev/full
