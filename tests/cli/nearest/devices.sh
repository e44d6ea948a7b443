# Several GPUs write what one writes.
export CUDA_ON_CPU_DEVICES=3 # of machines that pretend to have some
sapwood --version | grep -q 'cuda:1' || exit 77
numbers() { awk -v seed="$1" -v rows="$2" -v columns="$3" 'BEGIN {
  for (i = 0; i < rows; i++) for (c = 0; c < columns; c++) {
    seed = (seed * 1103515245 % 2147483648 + 12345) % 2147483648
    printf "%.4f%s", seed / 2147483648 * (c < 3 || c == columns - 3 || columns < 6 ? 1 : 1.1), c < columns - 1 ? " " : "\n"
  }
}'; }
numbers 7 2001 3 | awk '{ print $1, $2, NR % 5 ? $3 : .5 }' > points.xyz
numbers 9 301 3 > queries.xyz
numbers 11 57 6 > boxes.xyz
sed '1501s/.*/0.5 nan 0.5/' points.xyz > nan.xyz
for name in points queries boxes nan; do sapwood convert -q $name.xyz -o $name.npy; done
for n in $(seq 40); do echo 1 2 3; done > equal.xyz
sapwood build -q points.npy -o tree.sap
sapwood convert -q --precision float64 queries.xyz -o queries64.npy
several=$(sapwood --version | grep -o 'cuda:2')
compared=0
# same SPREADS ARGUMENT...: the files that it writes under @
same() {
  local devices spread spreads=$1
  shift
  rm -rf one && mkdir one
  sapwood "${@//@/one}" -q --device cuda:0 > one/stdout || echo "one GPU: $*"
  for spread in $spreads; do
    devices=1,0
    [ "$several" ] && [ $spread = copied ] && devices=2,0,1
    rm -rf many && mkdir many
    sapwood "${@//@/many}" -q --devices $devices --spread $spread > many/stdout || echo "$devices $spread: $*"
    diff -r one many || echo "$devices $spread: other files: $*"
    compared=$((compared + 1))
  done
}
both='split copied'
same "$both" nearest points.npy queries.npy -k 3 -o @/ids.npy --distances @/d.npy
same "$both" nearest points.npy queries.xyz -k 2 --radius 0.05
same "$both" nearest points.npy queries64.npy -k 20 -o @/ids.csv
same "$both" nearest points.xyz -k 8 -o @/ids.npy --distances @/d.npy
same "$both" nearest points.npy -k 4 --with-self -o @/ids.npy
same "$both" nearest nan.npy -k 3 --drop-nonfinite -o @/ids.npy --distances @/d.npy
same "$both" nearest points.npy nan.npy -k 3 -o @/ids.npy --distances @/d.npy
same "$both" nearest points.npy queries.npy -k 2 --precision float64 --distances @/d.npy
same "$both" nearest five.xyz -k 7 -o @/ids.npy --distances @/d.npy
same "$both" nearest five.xyz five.xyz -k 2
same "$both" radius points.npy queries.npy --radius 0.1 -o @/o.npy --ids @/i.npy --distances @/d.npy
same "$both" radius points.npy --radius 0.1 -o @/o.npy --ids @/i.npy --distances @/d.npy
same "$both" radius points.npy --radius 0.1 --pairs -o @/o.npy --ids @/i.npy
same "$both" radius points.npy queries64.npy --radius 0.1 --sorted
same "$both" radius nan.npy --radius 0.1 --count --drop-nonfinite -o @/c.npy
same "$both" radius points.npy queries.npy --radius 0.1 --count
same "$both" box points.npy boxes.npy -o @/c.npy
same "$both" box points.npy boxes.xyz -o @/o.npy --ids @/i.npy --precision float64
same "$both" box points.npy --lower 0,0,0 --upper 0.5,0.5,0.5 --ids @/i.npy --sorted
same auto nearest points.npy queries.npy -k 3 --metric l1 --weights 1,2,0.5 -o @/ids.npy --distances @/d.npy
same copied nearest points.npy queries.npy -k 3 --box 0,0,0,0.5,0.5,0.5 --period 2,0,2 -o @/ids.npy
same copied nearest equal.xyz -k 3 -o @/ids.npy
same auto nearest equal.xyz queries.npy -k 3 --drop-duplicates -o @/ids.npy
same auto nearest tree.sap queries64.npy -k 3 -o @/ids.npy --distances @/d.npy
same auto radius tree.sap queries.npy --radius 0.1 --metric linf -o @/o.npy --ids @/i.npy --distances @/d.npy
same copied radius points.npy queries.npy --radius 0.1 --count --box 0,0,0,0.5,0.5,0.5 -o @/c.npy
same copied radius points.npy queries.npy --radius 0.1 --split sliding-midpoint -o @/o.npy --ids @/i.npy
same auto box tree.sap boxes.npy -o @/o.npy --ids @/i.npy --sorted
[ $compared -ge 47 ] && echo "all compared"
# How they share: by themselves, and when told.
spread_of() { sapwood "$@" --devices 0,1 -q --json -o ids.npy | grep spread; }
spread_of nearest points.npy queries.npy
spread_of nearest points.npy queries.npy --spread split
spread_of nearest points.npy
spread_of nearest points.npy --spread split
spread_of box points.npy boxes.npy
spread_of box points.npy --lower 0,0,0 --upper 1,1,1
spread_of nearest tree.sap queries.npy
rm ids.npy
# One GPU is one device, and may do all that one does.
sapwood nearest points.npy queries.npy -k 3 --devices 1 --eps 0.5 -q | cmp - <(sapwood nearest points.npy queries.npy -k 3 --device cuda:0 --eps 0.5 -q)
# What is said once, whichever GPU it is about; the address sanitizer warns of so many neighbours.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:allocator_may_return_null=1
sapwood nearest points.npy -k 2 --devices 0,1 --metric l1
sapwood nearest points.npy queries.npy --devices 0,1 --metric l1 --spread split
sapwood nearest points.npy queries.npy --devices 1,0 --verify
sapwood nearest tree.sap --devices 1,0
sapwood nearest tree.sap queries.npy --devices 1,0 --spread split
sapwood nearest points.npy queries.npy --devices 1,0 --weights 1,2
sapwood nearest points.npy --devices 0,1023 2>&1 | sed -E 's/there are [0-9]+ GPUs/there are N GPUs/'
for spread in split copied; do
  sapwood nearest nan.npy --devices 0,1 --spread $spread -o ids.npy
  sapwood nearest absent.npy --devices 0,1 --spread $spread -o ids.npy
  sapwood radius points.npy -r 0.5 --limit 10 --devices 0,1 --spread $spread -o ids.npy
  sapwood nearest points.npy -k 2147483647 --devices 0,1 --spread $spread -o ids.npy 2>&1 | sed -E '/AddressSanitizer/d; s/neighbours of [0-9]+ queries/neighbours of N queries/'
done
[ ! -e ids.npy ]
sapwood nearest points.npy queries.npy --devices 0,1 -q --json -o ids.npy
sapwood nearest points.npy queries64.npy --devices 0,1 -v -o ids.npy 2>&1 | sed -E 's/threads [0-9]+/threads N/'
