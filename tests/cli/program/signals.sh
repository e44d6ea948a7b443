# A signal that ends the program leaves no file behind that is not yet in its place, and old outputs as they were.
mkfifo pipe
echo old > a.npy
awk 'BEGIN { for (i = 0; i < 500; i++) print i, 0, 0 }' > many.xyz
for signal in INT TERM HUP; do
  (
    for i in $(seq 1000); do ls .sapwood-*.part && break; sleep 0.01; done
    kill -$signal "$(cat pid)"
  ) > /dev/null 2>&1 &
  # The ids and the distances are complete or begun, and the picture waits for a reader of the pipe.
  { bash -c 'echo $$ > pid; exec "$SAPWOOD" radius five.xyz -r 1 -o a.npy --ids b.npy --distances pipe --format npy'; } 2> /dev/null
  echo $?
  wait
done
# A file that may not grow.
{ (ulimit -f 1; "$SAPWOOD" convert many.xyz -o a.npy); } 2> /dev/null
echo $?
{ (ulimit -f 1; "$SAPWOOD" render quad.obj -o a.ppm --size 64x64 --samples 1); } 2> /dev/null
echo $?
# One that is told to go on.
(trap '' XFSZ; ulimit -f 1; "$SAPWOOD" convert many.xyz -o a.npy)
echo $?
cat a.npy
ls -A | grep -e part -e b.npy
