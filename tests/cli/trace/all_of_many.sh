# More hits than a ray has room for at first, and rays of few hits before and after it.
for i in $(seq 100); do echo "v 0 0 $i
v 1 0 $i
v 0 1 $i
f -3 -2 -1"; done > stack.obj
{ for i in $(seq 30); do echo "0.1 0.1 $((i * 3 % 100)).5 0 0 1"; done; echo "9 9 9 0 0 1"; } > rays.xyz
sapwood trace stack.obj rays.xyz --all > all.txt && wc -l < all.txt && sort -sn -c -k 1,1 all.txt
sapwood trace stack.obj rays.xyz | awk '$4 >= 0 { print NR - 1, $0 }' > first.txt
awk '!seen[$1]++' all.txt | cmp - first.txt && sapwood trace stack.obj rays.xyz --all --hits 2 | wc -l
