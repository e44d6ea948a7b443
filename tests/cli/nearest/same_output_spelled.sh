# A file that is not there yet, by two names.
mkdir k && ln -s k l
for other in ./k/a.npy k/../k/a.npy l/a.npy; do
  sapwood nearest five.xyz five.xyz -o k/a.npy --distances $other
  echo $?
done
sapwood nearest five.xyz five.xyz -q -o k/a.npy --distances a.npy && ls k/a.npy a.npy
