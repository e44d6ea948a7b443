sapwood convert five.xyz -o - --format las | sapwood convert -
