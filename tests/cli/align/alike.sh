# A box lies on itself in four ways.
box() { awk -v s="$1" 'BEGIN { srand(s); for (i = 0; i < 4000; i++) { x = 2 * rand() - 1; y = 2 * rand() - 1; z = 2 * rand() - 1; a = x < 0 ? -x : x; b = y < 0 ? -y : y; c = z < 0 ? -z : z; m = a > b ? a : b; m = m > c ? m : c; printf "%.4f %.4f %.4f\n", x / m, 0.6 * y / m, 0.4 * z / m } }'; }
box 1 > target.xyz
box 2 > moved.xyz
sapwood align moved.xyz target.xyz --global --transform t.txt 2>&1 | grep -v '^sapwood align: [0-9]'
