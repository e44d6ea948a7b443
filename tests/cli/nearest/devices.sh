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
sapwood convert -q --precision float64 queries.xyz -o queries64.npy
several=1,0
sapwood --version | grep -q 'cuda:2' && several='0,1 2,0,1'
compared=0
# same ARGUMENT...: the files that it writes under @
same() {
  local devices
  rm -rf one && mkdir one
  sapwood "${@//@/one}" -q --device cuda:0 > one/stdout || echo "one GPU: $*"
  for devices in $several; do
    rm -rf many && mkdir many
    sapwood "${@//@/many}" -q --devices $devices > many/stdout || echo "$devices: $*"
    diff -r one many || echo "$devices: other files: $*"
    compared=$((compared + 1))
  done
}
same nearest points.npy queries.npy -k 3 -o @/ids.npy --distances @/d.npy
same nearest points.npy queries.xyz -k 2 --radius 0.05
same nearest points.npy queries64.npy -k 20 -o @/ids.csv
same nearest points.xyz -k 8 -o @/ids.npy --distances @/d.npy
same nearest points.npy -k 4 --with-self -o @/ids.npy
same nearest nan.npy -k 3 --drop-nonfinite -o @/ids.npy --distances @/d.npy
same nearest points.npy nan.npy -k 3 -o @/ids.npy --distances @/d.npy
same nearest points.npy queries.npy -k 2 --precision float64 --distances @/d.npy
same nearest five.xyz -k 7 -o @/ids.npy --distances @/d.npy
same nearest five.xyz five.xyz -k 2
same radius points.npy queries.npy --radius 0.1 -o @/o.npy --ids @/i.npy --distances @/d.npy
same radius points.npy --radius 0.1 -o @/o.npy --ids @/i.npy --distances @/d.npy
same radius points.npy --radius 0.1 --pairs -o @/o.npy --ids @/i.npy
same radius points.npy queries64.npy --radius 0.1 --sorted
same radius nan.npy --radius 0.1 --count --drop-nonfinite -o @/c.npy
same radius points.npy queries.npy --radius 0.1 --count
same box points.npy boxes.npy -o @/c.npy
same box points.npy boxes.xyz -o @/o.npy --ids @/i.npy --precision float64
same box points.npy --lower 0,0,0 --upper 0.5,0.5,0.5 --ids @/i.npy --sorted
[ $compared -ge 19 ] && echo "all compared"
# One GPU is one device, and may do all that one does.
sapwood nearest points.npy queries.npy -k 3 --devices 1 --metric l1 -q | cmp - <(sapwood nearest points.npy queries.npy -k 3 --device cuda:0 --metric l1 -q)
# What is said once, whichever GPU it is about.
sapwood build -q points.npy -o tree.sap
sapwood nearest points.npy -k 2 --devices 0,1 --metric l1
sapwood nearest tree.sap queries.npy --devices 1,0
sapwood nearest points.npy --devices 0,1023 2>&1 | sed -E 's/there are [0-9]+ GPUs/there are N GPUs/'
sapwood nearest nan.npy --devices 0,1 -o ids.npy
sapwood nearest absent.npy --devices 0,1 -o ids.npy
sapwood radius points.npy -r 0.5 --limit 10 --devices 0,1 -o ids.npy
[ ! -e ids.npy ]
sapwood nearest points.npy queries.npy --devices 0,1 -q --json -o ids.npy
sapwood nearest points.npy queries.npy --devices 0,1 -v -o ids.npy 2>&1 | sed -E 's/threads [0-9]+/threads N/'
