#!/usr/bin/env bash
# Fetches a real scan from Debian's main archive and makes points of it: fetch_scan.sh SCAN_SURFACE OUT.npy
#
# The scan is the CT of a human head in the package invesalius-examples (GPL-2; "ProMED CT 0051", 256 x 256 x 108
# voxels): the points lie where it passes 226 Hounsfield units, the surface of bone. Nothing is installed.
set -eu
surface=$(realpath "$1")
out=$(realpath -m "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
download() { apt-get -qq download invesalius-examples >log 2>&1; }
# Package lists may be absent or old; only root can fetch them.
download || { [ "$(id -u)" = 0 ] && apt-get -qq update >log 2>&1 && download; } || { cat log >&2; exit 1; }
dpkg-deb --fsys-tarfile invesalius-examples_*.deb | tar -xf - --wildcards '*/Cranium.inv3'
tar -xf "$(find . -name Cranium.inv3)" --wildcards '*/matrix.dat'
"$surface" "$(find . -name matrix.dat)" 256 256 108 0.9570312 0.9570312 1.5 226 "$out"
