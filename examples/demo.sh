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
# Says what runs; where that is a GPU, times it on FILE (or generated points). The demo itself checks and draws on the CPU.
running_on() { # running_on [FILE]
    local cli=$top/build/release/sapwood where
    [ -x "$cli" ] || return 0
    where=$("$cli" bench --points 1 --queries 1 -v 2>&1 >/dev/null | sed -n 's/^sapwood bench: device //p')
    echo "running on: $where"
    case $where in cuda*) "$cli" bench -k 16 "$@" && echo "and on the CPU, with a check and a picture:" ;; esac
}
given=
for argument in "$@"; do
    case $given$argument in
    --data | --generate) given=$argument= ;;
    --data=*) running_on "${argument#--data=}"; exec "$built/demo" "${picture[@]}" "$@" ;;
    --generate=*) running_on; exec "$built/demo" "${picture[@]}" "$@" ;;
    esac
done
if [ ! -s "$scan" ]; then
    echo "fetching a scan (Debian package invesalius-examples, 19 MB)"
    if ! "$top/examples/fetch_scan.sh" "$built/scan_surface" "$scan"; then
        echo "no real scan could be had: apt-get did not reach the package; going on with a generated scan"
        running_on
        exec "$built/demo" "${picture[@]}" --name "generated (yard, 8 scanner stops of 64 beams, 4 mm noise)" "$@"
    fi
fi
running_on "$scan"
exec "$built/demo" "${picture[@]}" --data "$scan" --view 195,8 \
    --name "CT of a head, surface of bone (Debian invesalius-examples, GPL-2)" "$@"
