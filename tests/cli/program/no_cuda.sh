sapwood --version | grep -q cuda && exit 77
sapwood nearest five.xyz --device cuda:0
