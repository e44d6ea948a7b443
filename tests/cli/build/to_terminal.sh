command -v script > /dev/null || exit 77
script -qec '"$SAPWOOD" build five.xyz -o -' /dev/null < /dev/null | tr -d '\r'
exit "${PIPESTATUS[0]}"
