#!/usr/bin/env bash
# Checks that rooms include only rooms below them, as docs/rooms.txt lists them, that no file includes itself through
# others, and that docs/house.svg is what docs/house.sh draws. Names file, line and arrow of each include that is wrong.
#   tests/rooms.sh               checks this repository, then itself: it must catch wrong includes planted in a small copy
#   tests/rooms.sh check [TOP]   checks the repository at TOP
#   tests/rooms.sh arrows [TOP]  lists which outer room includes which, an arrow a line
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

# The includes of a repository as lines FILE:LINE:TEXT; an include may also be named by a macro.
includes() {
    local folders=() folder
    for folder in src cli python examples bench web fuzz tests; do [ ! -d "$folder" ] || folders+=("$folder"); done
    grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.cpp' --include='*.glsl' \
        --exclude-dir=node_modules \
        '^[[:space:]]*#[[:space:]]*(include[[:space:]]*"[^"]+"|define[[:space:]]+[A-Za-z0-9_]+[[:space:]]+"[A-Za-z0-9_./-]+\.(h|cuh|glsl)")' \
        "${folders[@]}" |
        LC_ALL=C sort -t: -k1,1 -k2,2n
}

# Tables that every program below begins with: outer and inner rooms with their heights, what stands above them.
reader='
    function outer(name) { sub("/.*", "", name); return name }
    FILENAME == ARGV[1] && /^(room|above) / {
        kind = $1; name = $2
        phrase = $0; sub(/^[a-z]+ +[^ ]+ */, "", phrase)
        if (kind == "above") {
            also[name] = index(phrase, ";") ? substr(phrase, index(phrase, ";") + 1) : ""
            above[name] = 1
            next
        }
        if (name in height) { print "docs/rooms.txt:" FNR ": " name " is listed twice"; wrong = 1 }
        height[name] = ++listed
        next
    }
    FILENAME == ARGV[1] { next }
    # A line of includes: file, line, path as it is written, and the rooms of both.
    FILENAME == ARGV[2] {
        split($0, part, ":"); file = part[1]; line = part[2]
        path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
        count = split(file, folder, "/")
        from = folder[2]; inner = count > 3 ? from "/" folder[3] : from
        count = split(path, folder, "/")
        to = folder[1]; into = count > 2 ? to "/" folder[2] : to
    }'

check_includes() { # in the repository TOP
    awk "$reader"'
        function complain(text) { print file ":" line ": " text; wrong = 1 }
        function arrow(a, b) {
            if (!(b in height)) complain(a " -> " b ": " b " is not in docs/rooms.txt")
            else if (height[b] > height[a]) complain(a " -> " b ": " b " stands above " a)
        }
        # Whether a program may include a path: public headers, its own files, and what the list adds.
        function may(name,   patterns, i, count, pattern) {
            if (path ~ /^sapwood\//) return 1
            count = split(also[name], patterns, " ")
            for (i = 1; i <= count; i++) {
                if (patterns[i] == path || patterns[i] == "*") return 1
                pattern = patterns[i]
                if (sub(/\*$/, "", pattern) && index(path, pattern) == 1) return 1
            }
            return !(to in height) || path !~ "/"
        }
        FILENAME == ARGV[2] && file !~ /^src\// {
            name = outer(file)
            if (!may(name)) complain(name " -> " path ": only public headers, or what docs/rooms.txt adds")
            if (path !~ "/" && (name == "cli" || name == "examples")) own[++owned] = file ":" line ":" path
            next
        }
        FILENAME == ARGV[2] {
            if (!(inner in height)) { if (!(inner in missed)) complain(inner " is not in docs/rooms.txt"); missed[inner] = 1; next }
            if (to == "sapwood") next
            if (path !~ "/") complain("\"" path "\" names no room")
            else if (from != to) arrow(from, to)
            if (/^[^"]*include/ && path ~ "/" && (to in height)) {
                user[++uses] = file; used[uses] = "src/" path; where[uses] = line
                open_uses[file]++
            }
            if (from != to || path !~ "/") next
            if (inner != from && into != to && inner != into) arrow(inner, into)
        }
        END {
            for (i = 1; i <= owned; i++) {
                split(own[i], part, ":")
                file = part[1]; line = part[2]; path = part[3]; name = outer(file)
                beside = file; sub(/[^\/]*$/, path, beside)
                if (!may_also(name, path) && (getline text < beside) < 0) complain(name " -> " path ": not a file of " name)
                close(beside)
            }
            # Files that include nothing more are taken away until none is left; what stays is on a circle, or includes one.
            do {
                taken = 0
                for (i = 1; i <= uses; i++)
                    if (user[i] != "" && !open_uses[used[i]]) { open_uses[user[i]]--; user[i] = ""; taken = 1 }
            } while (taken)
            for (i = 1; i <= uses; i++) if (user[i] != "") {
                file = user[i]; line = where[i]
                complain(file " -> " used[i] ": on a circle of includes, or leads to one")
            }
            exit wrong
        }
        function may_also(name, path) { return index(" " also[name] " ", " " path " ") > 0 }
    ' docs/rooms.txt "$1"
}

# Folders that the list lacks, and rooms of the list that do not exist.
check_folders() {
    local status=0 name
    while IFS= read -r name; do
        grep -qE "^room +$name( |\$)" docs/rooms.txt || { echo "src/$name: is not in docs/rooms.txt"; status=1; }
    done < <(find src -mindepth 1 -type d | sed 's|^src/||' | LC_ALL=C sort)
    while IFS= read -r name; do
        [ -d "src/$name" ] || { echo "docs/rooms.txt: there is no src/$name"; status=1; }
    done < <(awk '/^room / { print $2 }' docs/rooms.txt)
    return $status
}

# device/ declares a pointer to each room's tables of functions and kernels, and names rooms nowhere else.
check_device() {
    local files
    files=$(find src/device -type f | LC_ALL=C sort)
    # shellcheck disable=SC2086
    awk '
        FILENAME == ARGV[1] { if (/^room / && $2 !~ "/" && $2 !~ /^(base|math|device|saved)$/) room[$2] = 1; next }
        {
            text = $0
            sub(/\/\/.*/, "", text)
            if (text ~ /^[ \t]*const struct sap_[a-z_]+_(ops|kernels)\* [a-z_]+(\[[0-9]+\])?;[ \t]*$/) next
            while (match(text, /sap_[a-z0-9_]+/)) {
                name = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                for (r in room) if (name ~ "^sap_" r "_([a-z_]+_)?(ops|kernels|cpu|cuda|gl|job)(_|$)") {
                    print FILENAME ":" FNR ": device -> " r ": " name
                    wrong = 1
                }
            }
        }
        END { exit wrong }' docs/rooms.txt $files
}

arrows() {
    awk "$reader"'
        FILENAME == ARGV[2] && file ~ /^src\// && (to in height) && from != to { found[from " " to] = 1 }
        END { for (arrow in found) print arrow }' docs/rooms.txt "$1" | LC_ALL=C sort
}

check() {
    local status=0 list
    cd "$1"
    list=$(mktemp)
    includes >"$list"
    check_includes "$list" || status=1
    check_folders || status=1
    check_device || status=1
    rm -f "$list"
    if [ -e docs/house.sh ] && ! docs/house.sh --print | cmp -s - docs/house.svg; then
        echo "docs/house.svg: not what docs/house.sh draws; run it"
        status=1
    fi
    return $status
}

# plant WHAT FILE TEXT REPORT: a line TEXT at the end of FILE in the copy must lead to a line like REPORT.
planted=0 missed=0
plant() {
    local file=$copy/$2 kept=$copy/kept there=no
    [ ! -e "$file" ] || { there=yes; cp "$file" "$kept"; }
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$3" >>"$file"
    planted=$((planted + 1))
    if (check "$copy") >"$copy/report" || ! grep -qE "$4" "$copy/report"; then
        missed=$((missed + 1))
        echo "self-test: not caught: $1"
        sed 's/^/   | /' "$copy/report"
    fi
    if [ $there = yes ]; then mv "$kept" "$file"; else rm -f "$file"; rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")"; fi
}
selftest() {
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    mkdir -p "$copy"/{docs,cli} "$copy"/src/{base,math,device,tree/balanced,tree/sliding,nearest,radius}
    printf '%s\n' 'room base x' 'room math x' 'room device x' 'room tree x' 'room tree/balanced x' 'room tree/sliding x' \
        'room radius x' 'room nearest x' 'above cli x' >"$copy/docs/rooms.txt"
    local room
    for room in math device tree nearest radius; do echo '#include "base/base.h"' >"$copy/src/$room/$room.c"; done
    echo '#include "sapwood/base.h"' >"$copy/cli/cli.c"
    echo '#include "tree/balanced/a.h"' >>"$copy/src/tree/tree.c"
    echo '#include "tree/layout.h"' >"$copy/src/tree/balanced/a.h"
    echo '    const struct sap_tree_ops* tree;' >"$copy/src/device/device.h"
    (check "$copy") || { echo "self-test: a good house was refused"; return 1; }
    plant "a room above" src/tree/tree.c '#include "radius/radius.h"' '^src/tree/tree\.c:3: tree -> radius'
    plant "spaces in the line" src/radius/radius.c '  #  include "nearest/nearest.h"' '^src/radius/radius\.c:2: radius -> nearest'
    plant "an inner room above" src/tree/balanced/b.h '#include "tree/sliding/a.h"' \
        '^src/tree/balanced/b\.h:1: tree/balanced -> tree/sliding'
    plant "a circle" src/tree/layout.h '#include "tree/balanced/a.h"' '^src/tree/layout\.h:1: .*circle'
    plant "no header" src/math/math.c '#include "tree/tree.c"' '^src/math/math\.c:2: math -> tree'
    plant "a room named by a macro" src/math/math.c '#define SAP_SPECIAL_TEXT "tree/text.h"' '^src/math/math\.c:2: math -> tree'
    plant "a shader" src/tree/tree.glsl '#include "nearest/walk.h"' '^src/tree/tree\.glsl:1: tree -> nearest'
    plant "a room that the list lacks" src/box/box.c '#include "tree/layout.h"' '^src/box(/box\.c:1)?: '
    plant "device includes a room" src/device/device.c '#include "tree/layout.h"' '^src/device/device\.c:2: device -> tree'
    plant "device names a room" src/device/device.c 'sap_status sap_nearest_cpu(void);' '^src/device/device\.c:2: device -> nearest'
    plant "cli looks inside" cli/cli.c '#include "tree/layout.h"' '^cli/cli\.c:2: cli -> tree'
    plant "cli takes what is not its own" cli/cli.c '#include "bench.h"' '^cli/cli\.c:2: cli -> bench\.h'
    [ $missed = 0 ] && echo "self-test: $planted wrong lines were planted, all were caught"
}

case ${1:-all} in
    all)
        status=0
        (check "$here") && echo "rooms include only rooms below them" || status=1
        selftest || status=1
        exit $status
        ;;
    check) check "${2:-$here}" ;;
    arrows)
        cd "${2:-$here}"
        list=$(mktemp)
        includes >"$list"
        arrows "$list"
        rm -f "$list"
        ;;
    *)
        sed -n '2,6s/^# //p' "$0" >&2
        exit 2
        ;;
esac
