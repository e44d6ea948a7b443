sapwood nearest five.xyz --unpack-limit "5 "; echo $? >&2; sapwood nearest five.xyz --unpack-limit 99999T
