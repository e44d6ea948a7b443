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
    for text in nearest/walk_cpu.c radius/walk_cpu.c box/walk_cpu.c ray/ray_cpu.c ray/closest_cpu.c surface/surface_cpu.c; do
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

# Shaders are written to files first, and all shown to the compiler at once: it takes longer to start than to compile one.
shaders=$work/shaders
mkdir "$shaders"

# shader VERSION DEFINES FILE: a shader of src after the lines that the library puts before it.
shader() {
    highp='precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n'
    case $1 in
    300) before="#version 300 es\n${highp}precision highp isampler2D;\nprecision highp usampler2D;\nprecision highp sampler3D;\nprecision highp isampler3D;\nprecision highp usampler3D;\n" ;;
    *) before="#version 100\n${highp}varying highp vec2 covered;\n" ;;
    esac
    { printf "$before" && printf '#define %s\n' $2 | tr = ' ' && expand "$root/src/$3"; } \
        >"$shaders/$(basename "$3" .glsl) $2.frag" || failed=$((failed + 1))
}

# compute_shader DEFINES FILE: the same with buffers.
compute_shader() {
    {
        for type in float int sampler2D usampler2D sampler3D isampler3D usampler3D; do
            [ $type = float ] && echo '#version 310 es'
            echo "precision highp $type;"
        done
        printf '#define %s\n' $1 | tr = ' ' && expand "$root/src/$2"
    } >"$shaders/$(basename "$2" .glsl) $1.comp" || failed=$((failed + 1))
}
# both_shaders DEFINES FILE: a text that is both shaders of a program.
both_shaders() {
    shader 300 "$1" "$2"
    shader 300 "SAP_VERTEX $1" "$2"
    name=$(basename "$2" .glsl)
    mv "$shaders/$name SAP_VERTEX $1.frag" "$shaders/$name $1.vert"
}

# nearest.glsl as nearest/grid/walk_gl.c compiles it.
nearest_shader() { # AXES CAPACITY WAY STAGE
    high='precision highp float; precision highp int; precision highp sampler2D; precision highp usampler2D;
precision highp isampler2D;'
    {
        [ "$4" = frag ] && printf '#version 300 es\n%s\n' "$high"
        [ "$4" = comp ] && printf '#version 310 es\n%s precision highp uimage2D;\n%s\n%s\n' "$high" \
            'layout(local_size_x = 8, local_size_y = 8) in;' '#define SAP_COMPUTE'
        printf '#define SAP_AXES %d\n#define SAP_CAPACITY %d\n#define SAP_HINTS ' "$1" "$2"
        echo "$3" | tr ';' '\n'
        expand "$root/src/nearest/nearest.glsl"
    } >"$shaders/nearest $1 axes, capacity $2, $3.$4" || failed=$((failed + 1))
}

if found glslangValidator "GLSL ES 1.00, 3.00 and 3.10"; then
    for pass in 0 1 2 3; do
        for form in 0 1; do
            for cells in 0 1 2 3; do
                shader 300 "SAP_PASS=$pass SAP_VEC4=$form SAP_CELLS=$cells" compact/histopyramid.glsl
            done
            for cells in 2 3; do
                shader 100 "SAP_PASS=$pass SAP_BYTES=$form SAP_CELLS=$cells" compact/histopyramid_100.glsl
            done
        done
    done
    for sampler in sampler3D isampler3D usampler3D; do
        for pass in 0 1 2; do
            shader 300 "SAP_PASS=$pass SAP_VEC4=1 SAP_CELLS=1 SAP_SAMPLER=$sampler" surface/surface.glsl
        done
        for pass in 0 1 2 3; do compute_shader "SAP_PASS=$pass SAP_SAMPLER=$sampler" surface/words.glsl; done
    done
    for gather in 0 1 2; do
        for form in "SAP_VEC4=0 SAP_BYTES=0" "SAP_VEC4=1 SAP_BYTES=0" "SAP_VEC4=0 SAP_BYTES=1"; do
            for branches in 0 1; do
                for pass in 0 1; do
                    shader 300 "SAP_PASS=$pass $form SAP_BRANCHES=$branches SAP_GATHER=$gather" compact/zpyramid.glsl
                done
                both_shaders "SAP_PASS=1 SAP_DRAWN $form SAP_BRANCHES=$branches SAP_GATHER=$gather" compact/zpyramid.glsl
            done
        done
    done
    for textures in 0 1; do both_shaders "SAP_TEXTURES=$textures" surface/surface_show.glsl; done
    for pass in 0 1 2 3 4 5 6 7; do shader 300 "SAP_PASS=$pass" render/view/view.glsl; done
    for axes in 2 3; do
        for lists in 3 7; do
            for kind in "" SAP_EXPLICIT=1; do shader 300 "SAP_AXES=$axes SAP_LISTS=$lists $kind" radius/rows.glsl; done
        done
    done
    for way in SAP_LISTED=1 "SAP_LISTED=1 SAP_RESUMED=1" "" SAP_RESUMED=1 SAP_OUTCOME=1; do
        shader 300 "SAP_MESH_STACK=32 $way" ray/ray.glsl
    done
    for axes in 2 3 4; do
        { printf '#version 300 es\n#define SAP_AXES %d\n' "$axes" && expand "$here/walk.frag"; } \
            >"$shaders/walk $axes.frag" || failed=$((failed + 1))
    done
    for text in rays surface; do
        { echo '#version 300 es' && expand "$here/$text.frag"; } >"$shaders/$text.frag" || failed=$((failed + 1))
    done
    for axes in 2 3; do
        for capacity in 0 1 2 4 8; do
            for way in "0" "0;#define SAP_GRID" "2;#define SAP_GRID" "1;#define SAP_GRID" "3;#define SAP_GRID" "0;#define SAP_RESUMED" \
                "2;#define SAP_GRID;#define SAP_EXPLICIT" "3;#define SAP_GRID;#define SAP_EXPLICIT" \
                "0;#define SAP_GRID;#define SAP_RESUMED" "0;#define SAP_RESUMED;#define SAP_LEFT" \
                "0;#define SAP_EXPLICIT" "1;#define SAP_GRID;#define SAP_EXPLICIT" \
                "0;#define SAP_RESUMED;#define SAP_EXPLICIT" "2;#define SAP_GRID;#define SAP_STACK 24" \
                "0;#define SAP_RESUMED;#define SAP_STACK 24"; do
                nearest_shader "$axes" "$capacity" "$way" frag
                case $way in *SAP_LEFT) continue ;; esac # a pass that discards
                nearest_shader "$axes" "$capacity" "$way" comp
            done
        done
        for tiles in 1 2; do
            for stage in frag comp; do
                nearest_shader "$axes" 1 "2;#define SAP_GRID;#define SAP_TILES $tiles" "$stage"
            done
        done
    done
    for output in 0 1; do
        for way in "2" "2 SAP_STACK=20" "2 SAP_STACK=20 SAP_MOST=1" "2 SAP_CYCLE=1" "3" "3 SAP_STACK=20 SAP_CYCLE=1"; do
            for glsl in 100 300; do
                shader "$glsl" "SAP_GLSL=$glsl SAP_OUTPUT=$output SAP_AXES=$way" nearest/grid/nearest_rgba8.glsl
            done
        done
    done
    check "GLSL with glslangValidator: $(ls "$shaders" | wc -l) shaders" glslangValidator "$shaders"/*
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
