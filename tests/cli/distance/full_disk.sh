[ -w /dev/full ] || exit 77
sapwood distance five.xyz queries.xyz -o - --format csv > /dev/full
