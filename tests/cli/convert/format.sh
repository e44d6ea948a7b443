sapwood convert five.xyz -q --format csv -o five.dat && head -2 five.dat
