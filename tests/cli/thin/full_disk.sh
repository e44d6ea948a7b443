[ -w /dev/full ] || exit 77
sapwood thin five.xyz -s 1.5 -o - --format csv > /dev/full
