# Of two arrays in an archive the one named points is read; --member names the other.
sapwood convert two.npz
sapwood convert two.npz --member a
sapwood convert two.npz --member b
sapwood convert five.xyz --member a
