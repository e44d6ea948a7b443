#!/bin/sh
# Shows the shared texts to every compiler of their three languages that this machine has, warnings as errors.
# Says what it skipped. Exits with 0 if nothing failed, 1 if a compiler refused a text, 77 if no compiler was found.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND…: runs the command; its output is shown if it failed.
check() {
    name=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        passed=$((passed + 1))
        echo "passed  $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        cat "$work/output"
    fi
}

# found COMMAND WHAT: whether the command is there.
found() {
    command -v "$1" >"$work/where" 2>&1 && return 0
    skipped=$((skipped + 1))
    echo "skipped $2: no $1 on this machine"
    return 1
}

# A shader with each `#include "…"` replaced by that file of src: GLSL has no include.
expand() {
    awk -v src="$root/src" '
        function put(path,   line, outcome) {
            while ((outcome = (getline line < path)) > 0)
                if (line ~ /^#include "/) { split(line, part, "\""); put(src "/" part[2]) } else print line
            if (outcome < 0) { print "cannot read " path > "/dev/stderr"; exit 1 }
            close(path)
        }
        BEGIN { put(ARGV[1]) }' "$1"
}

for compiler in gcc clang; do
    found "$compiler" "C17 with $compiler" || continue
    for text in nearest/walks_cpu.c radius/walks_cpu.c ray/ray_cpu.c ray/closest_point.c surface/surface_cpu.c; do
        check "C17 with $compiler: src/$text" "$compiler" -std=c17 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra \
            -Wpedantic -Wshadow -Wconversion -Wno-unknown-pragmas -Werror -I "$root/include" -I "$root/src" \
            "$root/src/$text"
    done
done

if found nvcc "CUDA"; then
    for text in walk rays mesh; do
        check "CUDA with nvcc: $text.cu" nvcc -arch=sm_90 -fmad=false -Werror all-warnings -I "$root/include" \
            -I "$root/src" -I "$here" -c "$here/$text.cu" -o "$work/object.o"
    done
fi

if found glslangValidator "GLSL ES 3.00"; then
    for axes in 2 3 4; do
        if { printf '#version 300 es\n#define SAP_AXES %d\n' "$axes" && expand "$here/walk.frag"; } >"$work/walk.frag"; then
            check "GLSL ES 3.00 with glslangValidator: walk.frag in $axes dimensions" glslangValidator "$work/walk.frag"
        else
            failed=$((failed + 1))
        fi
    done
    for text in rays surface; do
        if { echo '#version 300 es' && expand "$here/$text.frag"; } >"$work/$text.frag"; then
            check "GLSL ES 3.00 with glslangValidator: $text.frag" glslangValidator "$work/$text.frag"
        else
            failed=$((failed + 1))
        fi
    done
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
