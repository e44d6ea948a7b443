# Noisy samples, not the same in both files, of shapes that lie on themselves in several ways, or in any: it is said, and the
# exit status is 4.
shape() { awk -v kind="$1" -v seed="$2" '
  function next_one() { state = state * 16807 % 2147483647; return state / 2147483647 }
  function noise() { return 0.01 * (next_one() + next_one() + next_one() + next_one() - 2) }
  function knob(u, v, w, size) { return exp(-((x - u) ^ 2 + (y - v) ^ 2 + (z - w) ^ 2) / size) }
  function size(v) { return v < 0 ? -v : v }
  BEGIN {
    state = seed
    for (n = 0; n < 4000; ) {
      x = 2 * next_one() - 1; y = 2 * next_one() - 1; z = 2 * next_one() - 1; r = sqrt(x * x + y * y); l = sqrt(r * r + z * z)
      if (r > 1 && kind != "cube" || (kind == "ball" || kind == "stone") && (l > 1 || l < 0.1) || r < 0.01) continue
      if (kind == "ball" || kind == "stone") { x /= l; y /= l; z /= l }
      if (kind == "stone") { f = 1 + 0.5 * knob(1, 0, 0, 0.1) - 0.3 * knob(0, 0.8, 0.6, 0.2) + 0.4 * knob(-0.6, 0.8, 0, 0.05) + 0.3 * knob(0, -0.6, 0.8, 0.3); x *= f; y *= f; z *= f }
      if (kind == "disc") z = 0
      if (kind == "tube") { x *= 0.5 / r; y *= 0.5 / r }
      if (kind == "cube") { m = size(x); if (size(y) > m) m = size(y); if (size(z) > m) m = size(z); x /= m; y /= m; z /= m }
      printf "%.4f %.4f %.4f\n", x + noise(), y + noise(), z + noise()
      n++
    }
  }'; }
for kind in ball disc tube cube stone; do # the stone lies on itself in one way only
  shape $kind 11 > target.xyz
  shape $kind 1200 | awk '{ print $2, $3, $1 }' > $kind.xyz
  sapwood align $kind.xyz target.xyz --global --json --transform t.txt 2> said > report
  echo "$kind: exit status $?, $([ -e t.txt ] && echo a motion || echo no motion)"
  grep -E 'fit|nothing' said
  grep '"determined"' report
  rm -f t.txt
done
