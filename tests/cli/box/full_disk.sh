awk "BEGIN { for (i = 0; i < 999; i++) print 0, 0, 0, 1, 1, 1 }" > boxes.xyz
small_disk sapwood box five.xyz boxes.xyz -o n.csv
