# Two outputs come into their places together, or not at all.
echo old > a.csv
echo old > b.npy
sapwood nearest five.xyz -o a.csv --distances /dev/full --format csv
echo $?
small_disk sapwood nearest five.xyz -o a.csv --distances b.npy -k 300
echo $?
cat a.csv b.npy
chmod 640 a.csv
ln -s b.npy link.npy
sapwood nearest -q five.xyz -o a.csv --distances link.npy
echo $?
stat -c %a a.csv
cat a.csv
show b.npy
ls -A | grep -e part -e link
