#!/usr/bin/env bash
# Compares the library's interface with the description in packaging/abi: the exported functions, their declarations, the
# values of enumerations, and the size of every struct with the place of each field. Where abidiff (libabigail) is found it
# compares the types behind the declarations, too.
#   packaging/abi.sh BUILD_FOLDER            fails if anything differs
#   packaging/abi.sh --update BUILD_FOLDER   writes the description anew
set -euo pipefail
export LC_ALL=C # one order of names on every machine

update=
[ "${1-}" = --update ] && { update=1; shift; }
[ $# = 1 ] || { echo "usage: $0 [--update] BUILD_FOLDER" >&2; exit 2; }
library=$(cd "$1" && pwd)/libsapwood.so
top=$(cd "$(dirname "$0")/.." && pwd)
known=$top/packaging/abi
read -ra compiler <<<"${CC:-cc}"
compile=("${compiler[@]}" -std=c17 -I"$top/include")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The headers without comments, one declaration a line.
echo '#include "sapwood/sapwood.h"' >"$work/all.c"
"${compile[@]}" -E "$work/all.c" | awk '/^# / { ours = index($0, "/sapwood/") > 0; next } ours' |
  sed -E 's/__attribute__ *\(\([^)]*\("[^"]*"\)\)\)//g' | tr -s ' \n' ' ' |
  sed -E 's/_Bool/bool/g; s/ +\*/*/g; s/\*([a-z])/* \1/g; s/; /;\n/g; s/\{ /{\n/g' >"$work/declarations"
sed -nE 's/^ *(.*[ *](sap_[a-z0-9_]+)\(.*\));$/\2 \1/p' "$work/declarations" | grep -v 'typedef' | sort >"$work/functions"
tr '\n' ' ' <"$work/declarations" | grep -oE 'typedef enum [a-z0-9_]+ \{[^}]*\}' | grep -oE 'SAP_[A-Z0-9_]+' | sort -u >"$work/constants"
tr '\n' ' ' <"$work/declarations" | grep -oE 'typedef struct [a-z0-9_]+ \{[^}]*\}' >"$work/structs"

# A program that prints numbers: how large structs are, where their fields begin, and what constants are.
{
  echo '#include "sapwood/sapwood.h"'
  echo '#include <stdio.h>'
  echo 'int main(void) {'
  while read -r _ _ name _ fields; do
    printf 'printf("struct %s %%zu\\n", sizeof(%s));\n' "$name" "$name"
    # Names end in a comma, a semicolon or the sides of an array; those of functions stand behind "(*".
    tr ';' '\n' <<<"${fields%\}}" | sed -E 's/.*\(\*([a-z0-9_]+)\).*/\1/; s/\[[^]]*\]//g' | grep -oE '[a-z0-9_]+ *$' | tr -d ' ' |
      while read -r field; do
        printf 'printf("  %s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s*)0)->%s));\n' \
          "$name" "$field" "$name" "$field" "$name" "$field"
      done
  done <"$work/structs"
  while read -r name; do printf 'printf("%s %%d\\n", (int)%s);\n' "$name" "$name"; done <"$work/constants"
  echo '}'
} >"$work/numbers.c"
"${compile[@]}" -o "$work/numbers" "$work/numbers.c"
{
  echo "# exported"
  nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
  echo "# declared"
  cut -d' ' -f2- "$work/functions"
  echo "# sizes, and the place and size of each field, where pointers have 8 bytes"
  "$work/numbers"
} >"$work/interface.txt"

# What abidiff reads: pointers to all functions, with which come all types.
describe() {
  {
    cat "$work/all.c"
    cut -d' ' -f1 "$work/functions" | sed -E 's/.*/__typeof__(\&&) pointer_to_&;/'
  } >"$work/types.c"
  (cd "$work" && "${compile[@]}" -g -fPIC -shared -o types.so types.c)
  abidw --no-corpus-path --no-show-locs --no-comp-dir-path "$work/types.so" >"$work/types.abi"
}

if [ -n "$update" ]; then
  mkdir -p "$known"
  cp "$work/interface.txt" "$known/interface.txt"
  if command -v abidw >/dev/null; then
    describe
    cp "$work/types.abi" "$known/types.abi"
  else
    echo "abidw is missing (Debian: abigail-tools): packaging/abi/types.abi is as it was"
  fi
  exit 0
fi

remedy="If the change is meant, describe it in CHANGELOG.md and run: packaging/abi.sh --update BUILD_FOLDER"
pointer=$(echo '__SIZEOF_POINTER__' | "${compiler[@]}" -E -P -)
[ "$pointer" = 8 ] || { echo "skipped: the description is for pointers of 8 bytes"; exit 77; }
diff -u "$known/interface.txt" "$work/interface.txt" || { echo "failed: the interface has changed. $remedy"; exit 1; }
echo "interface: $(wc -l <"$work/functions") functions and $(wc -l <"$work/structs") structs, as described"
if command -v abidw >/dev/null && command -v abidiff >/dev/null; then
  describe
  abidiff "$known/types.abi" "$work/types.abi" || { echo "failed: types have changed. $remedy"; exit 1; }
  echo "types: abidiff finds no change"
fi
