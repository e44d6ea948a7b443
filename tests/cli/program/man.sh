sapwood --generate man > sapwood.1
head -4 sapwood.1
grep -c '^\.SS sapwood' sapwood.1
