#!/bin/sh
# gdb_test.sh PROGRAM: gdb's bt inside a user-level thread shows the program's frames and ends at heddle_start, or, when its joiner runs it
# by a call, at heddle_spawn; inside a group's child that was begun at once it ends at heddle_spawn: what lies below belongs to the spawner, which may run elsewhere by then. 77: no gdb, or it may
# not trace here.
program=$1
command -v gdb >/dev/null 2>&1 || { echo "gdb is not installed"; exit 77; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
gdb -nx -batch -ex 'set confirm off' -ex 'set pagination off' -ex 'set debuginfod enabled off' -ex 'set print frame-arguments none' \
  -ex 'break stop_in_thread' -ex 'break stop_in_child' -ex run \
  -ex 'echo [thread]\n' -ex bt -ex 'continue' -ex 'echo [child]\n' -ex bt -ex 'echo [end]\n' -ex 'delete' -ex continue "$program" >"$out" 2>&1
grep -q 'ptrace: Operation not permitted\|Could not trace' "$out" && { cat "$out"; echo "gdb may not trace here"; exit 77; }

fail() { echo "FAILED: $1"; cat "$out"; exit 1; }
part() { sed -n "/^\[$1\]/,/^\[$2\]/p" "$out"; }

part thread child | grep -q '^#0 .*stop_in_thread' || fail "no stop in the thread"
part thread child | grep -q '^#1 .*outer_frame' || fail "the thread's own frame is missing"
part thread child | grep '^#' | tail -n 1 | grep -q 'heddle_start\|heddle_spawn' || fail "the thread's stack does not end at heddle_start or heddle_spawn"
part child end | grep -q '^#0 .*stop_in_child' || fail "no stop in the child"
part child end | grep -q '^#1 .*child_frame' || fail "the child's own frame is missing"
part child end | grep '^#' | tail -n 1 | grep -q 'heddle_spawn' || fail "the child's stack does not end at heddle_spawn"
part thread child | grep -q 'Backtrace stopped' && fail "gdb lost its way in the thread"
part child end | grep -q 'Backtrace stopped' && fail "gdb lost its way in the child"
grep -q 'exited normally' "$out" || fail "the program does not end normally under gdb"
echo ok
