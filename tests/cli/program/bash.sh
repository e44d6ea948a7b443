# A completion that bash takes, tried on three command lines.
sapwood --generate bash > completion && . ./completion
try() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _sapwood
  echo "${COMPREPLY[@]}"
}
try sapwood ra
try sapwood nearest five.xyz --walk sta
try sapwood radius --s
try sapwood info cube
