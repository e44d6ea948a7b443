[ -w /dev/full ] || exit 77
sapwood pairs five.xyz -r 3 -o - --format csv > /dev/full
