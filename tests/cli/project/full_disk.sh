[ -w /dev/full ] || exit 77
sapwood project five.xyz -o - --format csv > /dev/full
