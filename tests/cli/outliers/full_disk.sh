[ -w /dev/full ] || exit 77
sapwood outliers five.xyz -k 2 --ratio 1 -o - --format csv > /dev/full
