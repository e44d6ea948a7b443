#!/usr/bin/env bash
# Runs every case FOLDER/NAME.sh against a sapwood program: stdout, stderr and exit status must be exactly what
# NAME.stdout, NAME.stderr and NAME.exit say (a missing file: nothing, 0). Each case runs in an empty folder with copies
# of data/. Times, and the processor in JSON, are masked. A case may exit with 77 to be skipped, as the slowest
# do where SLOW is set.
#   run.sh PROGRAM [--update] [FOLDER/NAME...]      --update writes the files instead; read what changed before keeping it
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] && [ -x "$1" ] || { echo "usage: run.sh PROGRAM [--update] [FOLDER/NAME...]" >&2; exit 2; }
SAPWOOD=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
export SAPWOOD
shift
update=
[ "${1-}" = --update ] && { update=yes; shift; }
[ $# -gt 0 ] || set -- $(cd "$here" && ls */*.sh | sed 's/\.sh$//')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mask() { sed -E -e 's/ in [0-9.e+-]+ s$/ in TIME s/' -e 's/ in [0-9.e+-]+ s:/ in TIME s:/' \
  -e 's/(build|trace|shade) +[0-9.]+ ms/\1 TIME ms/g' \
  -e 's/^( *"(read|build|save|search|render|trace|shade|extract|write|compact)": )[0-9.e+-]+/\1TIME/' -e 's/^( *"processor": )"(cpu|cuda)"/\1PROCESSOR/' "$1"; }

# keep WHAT PATH: what a case printed becomes what it must print; nothing needs no file.
keep() { if [ -s "$1" ]; then cp "$1" "$2"; else rm -f "$2"; fi; }

passed=0 failed=0 skipped=0
for name; do
  case=$here/$name
  [ -e "$case.sh" ] || { echo "run.sh: there is no case $name" >&2; exit 2; }
  rm -rf "$work"/* && mkdir "$work/here" && cp "$here"/data/* "$work/here"
  (cd "$work/here" && bash -u -c '. "$0"; . "$1"' "$here/lib.sh" "$case.sh") \
    > "$work/stdout.raw" 2> "$work/stderr.raw" < /dev/null
  status=$?
  if [ $status = 77 ]; then
    skipped=$((skipped + 1))
    continue
  fi
  mask "$work/stdout.raw" > "$work/stdout"
  mask "$work/stderr.raw" > "$work/stderr"
  [ $status = 0 ] && : > "$work/exit" || echo $status > "$work/exit"
  good=yes
  for what in stdout stderr exit; do
    if [ $update ]; then
      keep "$work/$what" "$case.$what"
    else
      expected=$case.$what
      [ -e "$expected" ] || expected=/dev/null
      diff -u --label "$name.$what expected" --label "$name.$what" "$expected" "$work/$what" || good=
    fi
  done
  if [ $good ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $name"; fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
