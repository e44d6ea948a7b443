[ -w /dev/full ] || exit 77
sapwood relax five.xyz -o - --format csv > /dev/full
