sapwood box five.xyz --lower -9,-9,-9 --upper 9,9,9 --ids ids.npy --limit 2
