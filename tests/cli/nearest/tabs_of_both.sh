# The suffix says what separates, also of outputs that wait for one another.
sapwood nearest five.xyz five.xyz -q -k 2 -o a.tsv --distances b.tsv && cat a.tsv b.tsv
