sapwood convert five.xyz -o - | sapwood convert - -o - --format ply | sapwood convert -
