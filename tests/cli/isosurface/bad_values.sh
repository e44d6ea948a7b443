for option in "--size 7,7" "--size 7x7x7" "--size 7,7,-1" "--size 7,7,1.5" "--size 7,7,2147483648" "--type u32" "--level nan" "--level x" "--spacing 1,1" "--spacing -1,1,1" "--skip -1" "--format npy"; do
  volume 2 > v.raw; sapwood isosurface v.raw --size 2,2,2 --type u8 --level 1 -o a.ply -q $option; echo "$?"
done 2>&1 | grep -v ^Try
