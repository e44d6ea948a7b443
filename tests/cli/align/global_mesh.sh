# A land as a mesh: every square of a lattice is two triangles.
land 0 1 11 | awk '{ print 100 - $1, $2 - 50, 70 - $3 }' > moved.xyz
awk 'function next_one() { state = (state * 1103515245 % 2147483648 + 12345) % 2147483648; return state / 2147483648 }
  BEGIN {
    state = 5; side = 61
    for (i = 0; i < 24; i++) { u[i] = next_one(); v[i] = next_one(); s[i] = 0.03 + 0.08 * next_one() }
    for (n = 0; n < side * side; n++) {
      x = n % side / (side - 1); y = int(n / side) / (side - 1); z = 0
      for (i = 0; i < 24; i++) { f = ((x - u[i]) ^ 2 + (y - v[i]) ^ 2) / s[i] ^ 2; z += (i % 3 ? 1 : -1) * s[i] / (1 + f) ^ 2 }
      printf "v %.4f %.4f %.4f\n", x, y, z
    }
    for (n = 1; n <= side * (side - 1); n++) if (n % side) printf "f %d %d %d\nf %d %d %d\n", n, n + 1, n + side, n + 1, n + side + 1, n + side
  }' > land.obj
sapwood align moved.xyz land.obj --global --method plane --transform t.txt
awk '{ printf "%.1f %.1f %.1f %.0f\n", $1, $2, $3, $4 }' t.txt | sed 's/-0\.0/0.0/g; s/-0$/0/'
