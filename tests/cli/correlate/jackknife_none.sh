# Equal points, which fill one block; then what cannot be, more blocks than points among it.
for i in 1 2 3; do echo 1 1 1; done > e.xyz; echo 1 2 > t.xyz
sapwood correlate e.xyz -r 0,1 --jackknife 3
sapwood build e.xyz -qo e.sap
for rest in '--jackknife 4' '--cells e.xyz --jackknife 4' '--cells t.xyz --jackknife 2' '--cells e.xyz' '--blocks b.npy' '--jackknife 1' '-o b.npy --blocks b.npy --jackknife 2' '--cells none.xyz --jackknife 2' '-o e.xyz --jackknife 2' '-o t.xyz --cells t.xyz --jackknife 2'; do
  sapwood correlate e.xyz -r 1 $rest
done
sapwood correlate e.sap -r 1 --jackknife 2
