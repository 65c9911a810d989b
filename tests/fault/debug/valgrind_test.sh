#!/bin/sh
# valgrind_test.sh PROGRAM: runs clean under memcheck, without a word about switched stacks. 77: no valgrind.
program=$1
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is not installed"; exit 77; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
timeout 100 valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$program" >"$out" 2>&1
status=$?
if [ $status -ne 0 ] || grep -q 'switching stacks\|Invalid read\|Invalid write' "$out"; then
  echo "FAILED: exit status $status"; cat "$out"; exit 1
fi
tail -n 2 "$out"
