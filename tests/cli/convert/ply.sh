sapwood convert five.xyz -q -o five.ply && head -c 150 five.ply | sed "/end_header/q" && show five.ply
