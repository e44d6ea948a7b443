sapwood nearest five.xyz --box 0,0,0,1,1; echo $? >&2; sapwood nearest five.xyz --box 0,0,0,nan,1,1; echo $? >&2; sapwood nearest five.xyz --box 0,0,1,1
