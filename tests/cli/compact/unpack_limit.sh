# Samples that are almost all alike are packed closer than others, so that a limit may be needed.
head -c 100000 /dev/zero | gzip -n > zeros.raw.gz
sapwood compact zeros.raw.gz --size 100,1000,1 --type u8 --level 1 --json -q --unpack-limit 1K > o 2> why
grep -q "without zlib" why && exit 77
sed 's/become [0-9]* or/become N or/' why
sapwood compact zeros.raw.gz --size 100,1000,1 --type u8 --level 1 --json -q --unpack-limit 98K | grep samples
for limit in 0 1.5G 1GB x 9000000T; do sapwood compact zeros.raw.gz --level 1 -o o.npy --unpack-limit $limit; done
