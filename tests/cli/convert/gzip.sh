# What gzip has packed is read as what is within, be it a file or a pipe; a library without zlib says so.
[ "$(printf '1 2 3\n' | gzip | "$SAPWOOD" convert - 2>&1)" = "1 2 3" ] || exit 77
gzip -k five.xyz faces.ply quad.obj
sapwood convert five.xyz.gz
cat five.xyz.gz five.xyz.gz | sapwood convert - --columns 1,2
sapwood convert faces.ply.gz -o faces.off && sapwood info faces.off
sapwood convert quad.obj.gz -o quad.obj; sapwood convert quad.obj.gz -o new.obj && grep newmtl new.mtl
cat faces.ply.gz | sapwood convert - -o piped.off && cmp faces.off piped.off
sapwood convert five.xyz -o five.csv.gz
head -c 40 five.xyz.gz > cut.gz; sapwood convert cut.gz
