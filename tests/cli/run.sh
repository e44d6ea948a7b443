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
  -e 's/(moving|building|tracing|shading) [0-9.e+-]+ s/\1 TIME s/g' \
  -e 's/ took [0-9.e+-]+ s$/ took TIME s/' -e 's/^(    +"photons": )[0-9.e+-]+/\1TIME/' \
  -e 's/(pose|read|build|refit|trace|shade|photons) +[0-9.]+ ms/\1 TIME ms/g' \
  -e 's/^( *"(pose|read|build|save|search|render|trace|shade|extract|write|compact|subdivide)": )[0-9.e+-]+/\1TIME/' -e 's/^( *"processor": )"(cpu|cuda)"/\1PROCESSOR/' "$1"; }

# keep WHAT PATH: what a case printed becomes what it must print; nothing needs no file.
keep() { if [ -s "$1" ]; then cp "$1" "$2"; else rm -f "$2"; fi; }

# one NAME PLACE: runs a case in a folder of its own; what it has to say goes to PLACE/report. Exit: as the case's verdict,
# 0 passed, 1 failed, 77 skipped.
one() {
  local case=$here/$1 place=$2 good=yes status=0 what expected
  mkdir -p "$place/here" && cp "$here"/data/* "$place/here"
  (cd "$place/here" && bash -u -c '. "$0"; . "$1"' "$here/lib.sh" "$case.sh") \
    > "$place/stdout.raw" 2> "$place/stderr.raw" < /dev/null || status=$?
  [ $status = 77 ] && return 77
  mask "$place/stdout.raw" > "$place/stdout"
  mask "$place/stderr.raw" > "$place/stderr"
  [ $status = 0 ] && : > "$place/exit" || echo $status > "$place/exit"
  for what in stdout stderr exit; do
    if [ $update ]; then
      keep "$place/$what" "$case.$what"
    else
      expected=$case.$what
      [ -e "$expected" ] || expected=/dev/null
      diff -u --label "$1.$what expected" --label "$1.$what" "$expected" "$place/$what" || good=
    fi
  done > "$place/report"
  rm -rf "$place/here"
  [ $good ] || { echo "FAILED $1" >> "$place/report"; return 1; }
}

for name; do [ -e "$here/$name.sh" ] || { echo "run.sh: there is no case $name" >&2; exit 2; }; done
running=0 most=$(nproc 2> /dev/null || echo 2)
for name; do
  if [ $running -ge "$most" ]; then wait -n; running=$((running - 1)); fi
  { status=0; one "$name" "$work/$name" || status=$?; echo $status > "$work/$name/verdict"; } &
  running=$((running + 1))
done
wait

passed=0 failed=0 skipped=0
for name; do
  cat "$work/$name/report" 2> /dev/null
  case $(cat "$work/$name/verdict" 2> /dev/null) in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *) failed=$((failed + 1)) ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
