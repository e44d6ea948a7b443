closed_cube > c.obj; for option in "--levels -1" "--levels 15" "--levels 14" "--creases 181" "--creases x" "--format npy" "--device cpu"; do
  sapwood subdivide c.obj -o a.ply -q $option; echo "$?"
done 2>&1 | grep -v ^Try
