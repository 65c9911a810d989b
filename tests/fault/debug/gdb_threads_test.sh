#!/bin/sh
# gdb_threads_test.sh PROGRAM SCRIPT: gdb's commands for user-level threads show those of a live process and, alike, of a core. 77: no gdb, or it may not trace here.
program=$1 script=$2
command -v gdb >/dev/null 2>&1 || { echo "gdb is not installed"; exit 77; }
dir=$(mktemp -d) || exit 1
child=
trap 'test -n "$child" && kill -9 "$child" 2>/dev/null; rm -rf "$dir"' EXIT
fail() { echo "FAILED: $1"; cat "$dir"/*.txt; exit 1; }

program=$(realpath "$program") script=$(realpath "$script")
cd "$dir" || exit 1
ulimit -c unlimited 2>/dev/null
"$program" >"$dir/said.txt" &
child=$!
for i in $(seq 300); do
  grep -q parked "$dir/said.txt" && break
  kill -0 "$child" 2>/dev/null || fail "the program ended"
  sleep 0.1
done

ask() { gdb -nx -batch -ex 'set confirm off' -ex 'set debuginfod enabled off' -ex "source $script" "$@" 2>&1; }
ask -p "$child" -ex 'heddle threads' >"$dir/live.txt"
grep -q 'Operation not permitted\|Could not attach\|could not trace\|Could not trace' "$dir/live.txt" && { cat "$dir/live.txt"; echo "gdb may not trace here"; exit 77; }

number_of() { sed -n "s/^ *\([0-9]*\)  $1 .*/\1/p" "$dir/live.txt"; }
door=$(number_of 'at the door')
stairs=$(number_of 'on the stairs')
test -n "$door" && test -n "$stairs" || fail "threads are missing in the list"
grep -q 'at the door .*waits for: mutex.*in .*waits_at_the_door' "$dir/live.txt" || fail "it is not told where a thread waits"

for way in live core; do
  if [ $way = live ]; then
    ask -p "$child" -ex "heddle bt $door" -ex "echo [stairs]\n" -ex "heddle bt $stairs" -ex "echo [end]\n" -ex "heddle in $stairs bt -1" -ex 'heddle bt 987654' >"$dir/$way.txt"
  else
    # The kernel's own: gcore leaves out memory that holds guards. Not all systems put it where the process is.
    kill -0 "$child" || fail "the process did not survive"
    kill -ABRT "$child"
    wait "$child" 2>/dev/null
    child=
    core=$(ls "$dir"/core* 2>/dev/null | head -n 1)
    test -n "$core" || { echo "ok, without a core: $(cat /proc/sys/kernel/core_pattern)"; exit 0; }
    ask "$program" "$core" -ex "heddle bt $door" -ex "echo [stairs]\n" -ex "heddle bt $stairs" -ex "echo [end]\n" -ex 'heddle threads' >"$dir/$way.txt"
  fi
  part() { sed -n "/$1/,/^\[$2\]/p" "$dir/$way.txt"; }
  part "thread $door " stairs | grep -q '^#0 ' || fail "$way: no frame 0"
  part "thread $door " stairs | grep -q 'waits_at_the_door' || fail "$way: the frame of the thread at the door is missing"
  test "$(part '\[stairs\]' end | grep -c 'takes_steps')" = 4 || fail "$way: not all four frames of the thread on the stairs are there"
  part '\[stairs\]' end | grep '^#' | tail -n 1 | grep -q 'heddle_start\|heddle_spawn' || fail "$way: the stack does not end where the thread begins"
  part '\[stairs\]' end | grep -q 'corrupt stack' && fail "$way: gdb lost its way"
  grep -q 'Python Exception' "$dir/$way.txt" && fail "$way: the script failed"
done
sed -n '/^\[end\]/,$p' "$dir/live.txt" | grep -q '^#[0-9]* .*heddle_' || fail "a command in the view of a thread shows something else"
grep -q 'no thread 987654' "$dir/live.txt" || fail "an unknown number is not refused"
grep -q 'on the stairs .*waits for: semaphore' "$dir/core.txt" || fail "the core's threads are not listed"
echo ok
