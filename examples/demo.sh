#!/usr/bin/env bash
# Runs the demo that was built over a real scan: demo.sh [--data FILE] [options of demo]
# Without --data the scan comes from a Debian package, once; where that cannot be reached, a scan is generated.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
built=$top/build/release/examples
folder=$top/build/demo
scan=$folder/skull.npy
mkdir -p "$folder"
picture=(--picture "$folder/demo.png")
for argument in "$@"; do
    case $argument in
    --data | --data=* | --generate | --generate=*) exec "$built/demo" "${picture[@]}" "$@" ;;
    esac
done
if [ ! -s "$scan" ]; then
    echo "fetching a scan (Debian package invesalius-examples, 19 MB)"
    if ! "$top/examples/fetch_scan.sh" "$built/scan_surface" "$scan"; then
        echo "no real scan could be had: apt-get did not reach the package; going on with a generated scan"
        exec "$built/demo" "${picture[@]}" --name "generated (yard, 8 scanner stops of 64 beams, 4 mm noise)" "$@"
    fi
fi
exec "$built/demo" "${picture[@]}" --data "$scan" --view 195,8 \
    --name "CT of a head, surface of bone (Debian invesalius-examples, GPL-2)" "$@"
