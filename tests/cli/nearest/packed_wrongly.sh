# What gzip has packed must be a file that is read: no saved tree, and packed once.
printf "" | gzip > empty.gz && gzip -n < five.xyz | gzip -n > twice.xyz.gz && gzip -n < two.npz > two.npz.gz || exit
sapwood build five.xyz -q -o five.sap && gzip -n five.sap && gzip -n < tetrahedron.tree > mesh.gz
sapwood info empty.gz 2> why || true
grep -q "without zlib" why && exit 77
for file in five.sap.gz twice.xyz.gz two.npz.gz; do sapwood nearest $file five.xyz; done
sapwood info two.npz.gz --member a
sapwood trace mesh.gz five.xyz
