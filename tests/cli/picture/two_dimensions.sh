printf "1 2\n3 4\n" > flat.txt; sapwood picture flat.txt -o a.ppm
