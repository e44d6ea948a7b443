# A ring fits on itself after any turn about its axis.
ring() { awk -v seed="$1" '
  function next_one() { state = state * 16807 % 2147483647; return state / 2147483647 }
  BEGIN { state = seed; for (n = 0; n < 3000; n++) { a = 6.283185307 * next_one(); b = 6.283185307 * next_one(); r = 1 + 0.4 * cos(b); printf "%.3f %.3f %.3f\n", r * cos(a), r * sin(a), 0.4 * sin(b) } }'; }
ring 11 > one.xyz
ring 1200 > two.xyz
sapwood assemble one.xyz two.xyz --global --transform t.txt 2>&1 | grep 'several'
sapwood assemble one.xyz two.xyz --global --json --transform t.txt -q | grep -c '"rivals": [1-9]'
