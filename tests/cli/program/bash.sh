# A completion that bash takes, tried on command lines.
sapwood --generate bash > completion && . ./completion
try() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _sapwood
  printf '<%s>' "${COMPREPLY[@]}"
  echo
}
: > "with blanks.xyz"
try sapwood ra
try sapwood nearest five.xyz --walk sta
try sapwood nearest five.xyz --walk = sta
try sapwood nearest five.xyz --walk =
try sapwood nearest five.xyz --walk=sta
try sapwood radius --s
try sapwood info cube
try sapwood info with
try sapwood build five.xyz -o with
try sapwood build five.xyz --output=with
try sapwood help ne
