sapwood --generate zsh > _sapwood
head -1 _sapwood
grep -c -e '--' _sapwood > /dev/null
