lattice 7 > l.xyz
for device in auto cpu; do
  sapwood nearest l.xyz l.xyz -k 6 -q --device $device --verify > plain && sapwood nearest l.xyz l.xyz -k 6 -q --device $device --ordered --verify > ordered && cmp plain ordered
done
