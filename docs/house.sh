#!/usr/bin/env bash
# Draws docs/house.svg: the rooms of docs/rooms.txt and their includes. An arrow that follows from others is left out.
#   docs/house.sh [--print]     --print: to standard output instead
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != --print ]; then
    docs/house.sh --print >docs/house.svg.new
    mv docs/house.svg.new docs/house.svg
    exit
fi
headers=$(cd include/sapwood && LC_ALL=C ls ./*.h | sed 's|^\./||' | tr '\n' ' ')
LC_ALL=C awk -v headers="$headers" '
    FILENAME == ARGV[1] && /^(room|above) / {
        name = $2
        phrase = $0
        sub(/^[a-z]+ +[^ ]+ */, "", phrase)
        sub(/ *;.*/, "", phrase)
        if ($1 == "above") {
            if (/; *\*$/) inside = inside (inside ? " and " : "") name
            else programs = programs (programs ? " · " : "") name
        } else if (name !~ "/") {
            room[++rooms] = name
            rank[name] = rooms
            says[name] = phrase
        } else {
            outer = name
            sub("/.*", "", outer)
            sub(".*/", "", name)
            within[outer] = within[outer] (within[outer] ? " · " : "") name
        }
        next
    }
    FILENAME == ARGV[2] && rank[$2] && rank[$2] < rank[$1] { arrow[rank[$1], rank[$2]] = 1 }

    # The nodes of a level are its rooms, and a place for each arrow that passes through.
    function node(name, at) { node_name[++nodes] = name; level[nodes] = at; members[at] = members[at] " " nodes; return nodes }
    function sort_level(l, side,   n, list, i, j, k, sum, count, key, held) {
        n = split(members[l], list, " ")
        for (i = 1; i <= n; i++) {
            sum = count = 0
            for (k = 1; k <= segments; k++) {
                if (side < 0 && upper[k] == list[i]) { sum += x[lower[k]]; count++ }
                if (side > 0 && lower[k] == list[i]) { sum += x[upper[k]]; count++ }
            }
            key[list[i]] = count ? sum / count : x[list[i]]
        }
        for (i = 2; i <= n; i++) {
            held = list[i]
            for (j = i - 1; j >= 1 && key[list[j]] > key[held]; j--) list[j + 1] = list[j]
            list[j + 1] = held
        }
        members[l] = ""
        for (i = 1; i <= n; i++) members[l] = members[l] " " list[i]
        place(l)
    }
    function place(l,   n, list, i, wide, at) {
        n = split(members[l], list, " ")
        for (i = 1; i <= n; i++) wide += (node_name[list[i]] ? WIDE : NARROW) + GAP
        at = (WIDTH - wide + GAP) / 2
        for (i = 1; i <= n; i++) {
            wide = node_name[list[i]] ? WIDE : NARROW
            x[list[i]] = at + wide / 2
            at += wide + GAP
        }
    }
    function text(class, at_x, at_y, what) { printf "  <text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, at_x, at_y, what }
    # A phrase in one line, or parted at a space near its middle.
    function phrase_lines(what,   words, count, i, first) {
        if (length(what) <= 30) return what
        count = split(what, words, " ")
        first = words[1]
        for (i = 2; i <= count && length(first) + length(words[i]) / 2 < length(what) / 2; i++) first = first " " words[i]
        return first "\n" substr(what, length(first) + 2)
    }
    END {
        WIDTH = 900; WIDE = 216; NARROW = 12; GAP = 16; HIGH = 70; STEP = 104; TOP = 236
        for (a = 1; a <= rooms; a++)
            for (b = 1; b < a; b++) {
                reach[a, b] = arrow[a, b]
                for (c = b + 1; c < a && !reach[a, b]; c++) reach[a, b] = arrow[a, c] && reach[c, b]
            }
        for (a = 1; a <= rooms; a++) {
            deep[a] = 0
            for (b = 1; b < a; b++) if (arrow[a, b] && deep[a] <= deep[b]) deep[a] = deep[b] + 1
            if (deep[a] > most) most = deep[a]
            of[a] = node(room[a], deep[a])
        }
        for (a = 1; a <= rooms; a++)
            for (b = 1; b < a; b++) {
                direct = arrow[a, b]
                for (c = b + 1; c < a && direct; c++) if (arrow[a, c] && reach[c, b]) direct = 0
                if (!direct) continue
                below = of[b]
                ways++
                way[ways] = below
                for (l = deep[b] + 1; l < deep[a]; l++) {
                    through = node("", l)
                    upper[++segments] = through; lower[segments] = below
                    below = through
                    way[ways] = through " " way[ways]
                }
                upper[++segments] = of[a]; lower[segments] = below
                way[ways] = of[a] " " way[ways]
            }
        for (l = 0; l <= most; l++) place(l)
        for (sweep = 1; sweep <= 6; sweep++) {
            for (l = 1; l <= most; l++) sort_level(l, -1)
            for (l = most - 1; l >= 0; l--) sort_level(l, 1)
        }
        height = TOP + most * STEP + HIGH + 56
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title\" font-family=\"Helvetica, Arial, sans-serif\">\n", WIDTH, height
        print "  <!-- Drawn by docs/house.sh from docs/rooms.txt and the includes. -->"
        printf "  <title id=\"title\">The rooms of Sapwood, from top to bottom:"
        for (a = rooms; a >= 1; a--) printf " %s%s", room[a], (a > 1 ? "," : "")
        print "; arrows show which room includes which</title>"
        print "  <style>"
        print "    .paper { fill: #fbf8f1 } .roof { fill: #8a5a3b } .beam { fill: #d9a066 } .room { fill: #f2e3c6; stroke: #8a5a3b; stroke-width: 2 }"
        print "    text { text-anchor: middle; fill: #3a2415 } .name { font-size: 18px; font-weight: bold } .phrase { font-size: 13px }"
        print "    .inner { font-size: 12px; fill: #8a5a3b } .light { fill: #ffffff } .ground { stroke: #7f9a52; stroke-width: 6 }"
        print "    .arrow { fill: none; stroke: #8a5a3b; stroke-width: 1.8; marker-end: url(#head) } .head { fill: #8a5a3b } .grass { font-size: 13px; fill: #55693a }"
        print "    @media (prefers-color-scheme: dark) {"
        print "      .paper { fill: #1d1a16 } .roof { fill: #6b4429 } .beam { fill: #84572d } .room { fill: #3a3024; stroke: #c79a6b } text { fill: #f3e7d3 }"
        print "      .inner { fill: #d9b48a } .arrow { stroke: #c79a6b } .head { fill: #c79a6b } .grass { fill: #a9c47c }"
        print "    }"
        print "  </style>"
        print "  <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0 L10 5 L0 10 Z\"/></marker></defs>"
        printf "  <rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height
        printf "  <path class=\"roof\" d=\"M%d 16 L%d 140 L34 140 Z\"/>\n", WIDTH / 2, WIDTH - 34
        text("name light", WIDTH / 2, 84, programs)
        text("phrase light", WIDTH / 2, 112, "include the public headers (docs/rooms.txt lists the exceptions)")
        printf "  <rect class=\"beam\" x=\"60\" y=\"140\" width=\"%d\" height=\"56\"/>\n", WIDTH - 120
        text("name", WIDTH / 2, 164, "include/sapwood")
        sub(/ $/, "", headers)
        gsub(/ /, " · ", headers)
        text("phrase", WIDTH / 2, 184, headers)
        for (l = 0; l <= most; l++) y[l] = TOP + (most - l) * STEP
        for (w = 1; w <= ways; w++) {
            count = split(way[w], stop, " ")
            path = sprintf("M%d %d", x[stop[1]], y[level[stop[1]]] + HIGH)
            at_x = x[stop[1]]; at_y = y[level[stop[1]]] + HIGH
            for (i = 2; i <= count; i++) {
                to_x = x[stop[i]]; to_y = y[level[stop[i]]]
                bend = (at_y + to_y) / 2
                path = path sprintf(" C%d %d %d %d %d %d", at_x, bend, to_x, bend, to_x, to_y - (i == count ? 1 : 0))
                if (i < count) path = path sprintf(" V%d", to_y + HIGH)
                at_x = to_x; at_y = to_y + HIGH
            }
            printf "  <path class=\"arrow\" d=\"%s\"/>\n", path
        }
        for (a = 1; a <= rooms; a++) {
            n = of[a]
            printf "  <rect class=\"room\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>\n", x[n] - WIDE / 2, y[deep[a]], WIDE, HIGH
            count = split(phrase_lines(says[room[a]]), lines, "\n")
            at_y = y[deep[a]] + (count + (within[room[a]] != "") > 2 ? 20 : count + (within[room[a]] != "") > 1 ? 25 : 31)
            text("name", x[n], at_y, room[a])
            for (i = 1; i <= count; i++) text("phrase", x[n], at_y += i == 1 ? 18 : 15, lines[i])
            if (within[room[a]]) text("inner", x[n], at_y + 15, within[room[a]])
        }
        at_y = y[0] + HIGH + 8
        printf "  <path class=\"ground\" d=\"M0 %d H%d\"/>\n", at_y, WIDTH
        text("grass", WIDTH / 2, at_y + 26, inside " may include every room")
        print "</svg>"
    }' docs/rooms.txt <(tests/rooms.sh arrows .)
