# On a GPU: the same answers, and it is said where they come from.
sapwood --version | grep -q " cuda:0" || exit 77
lattice 7 > l.xyz
for arguments in "nearest -k 6" "nearest five.xyz -k 6" "radius -r 1 --count" "radius five.xyz -r 1.5 --sorted"; do
  set -- $arguments
  sapwood "$1" l.xyz "${@:2}" --device cpu > cpu && sapwood "$1" l.xyz "${@:2}" --device cuda --simd portable --threads 2 --verify -q > cuda && cmp cpu cuda
done
seq 343 > w.xyz
for arguments in "correlate -r 0,1,2.3,9" "correlate -r 0,1,2.3,9 --weights w.xyz" \
    "correlate five.xyz -r 0,1,2.3,9 --jackknife 3" "pairs -r 1.5" "pairs -r 1 --full" \
    "nearest five.xyz -k 6 --period 6.5,0,5" "radius five.xyz -r 2 --sorted --period 6.5,0,5" \
    "box --lower 0,0,-1 --upper 2,3,1 --period 6.5,0,5"; do
  set -- $arguments
  sapwood "$1" l.xyz "${@:2}" --device cpu -q > cpu && sapwood "$1" l.xyz "${@:2}" --device cuda -q > cuda && cmp cpu cuda
done
sapwood build l.xyz -q -o cpu.sap --device cpu && sapwood build l.xyz -q -o cuda.sap --device cuda:0 && cmp cpu.sap cuda.sap
sapwood verify cuda.sap --device cuda
sapwood nearest cuda.sap five.xyz --device cuda --json -o ids.npy -q | grep -c "\"processor\": \"cuda\""
for walk in auto stack stackless warp packet; do
  sapwood nearest l.xyz five.xyz -k 6 --device cuda --walk $walk --verify -q > $walk && cmp auto $walk
  sapwood nearest l.xyz five.xyz -k 6 --device cuda --walk $walk --ordered -q | cmp auto
done
sapwood info cuda.sap --device cuda | tail -n 1
sapwood nearest five.xyz --device cuda -v 2>&1 > ids | head -n 1 | sed -E "s/threads [0-9]+/threads N/"
sapwood nearest five.xyz --device cuda:1023 2> sentence
echo $?
