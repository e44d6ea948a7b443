# What a pipe with a name holds is found out as of a file, or of standard input.
mkfifo pipe pipe.ply pipe.csv
for data in faces.ply triangle.off five.xyz bad.xyz; do
  cat $data > pipe &
  sapwood convert pipe -o a.ply; wait $!
done
cat faces.ply > pipe.ply &
sapwood info pipe.ply; wait $!
printf 'x,y\n1,2\n' > pipe.csv &
sapwood convert pipe.csv; wait $!
cat five.xyz > pipe &
sapwood nearest five.xyz pipe -k 1; wait $!
