sapwood convert two.pts -q -o two.tsv && cat -T two.tsv && sapwood convert two.tsv
