sapwood compact two.npz --member a --level 1 --type u8 --skip 352 -o - --format xyz
