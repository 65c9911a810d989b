#!/usr/bin/env bash
# test.sh <preset> [ctest argument...]: configures, builds, runs the tests of one preset.
# Without ctest arguments: all tests but those labelled stress, whose short forms are there, and mutants.
# Names the tests of GoogleTest that failed. Last line: "N passed, N failed"; the exit status is 0 only if none failed.
#   HEDDLE_TARGETS  what to build (default: heddle_checks, which is what the tests need)
#   HEDDLE_TALLY    a file that gets "passed failed" in place of the last line on the output
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?usage: test.sh <preset> [ctest argument...]}
shift
[ $# -gt 0 ] || set -- -LE '^(stress|mutants)$'
build=build/$preset
# One more than the processors of a small machine, because some tests wait for most of their time.
jobs=${HEDDLE_JOBS:-3}

finish() {   # passed failed
  if [ -n "${HEDDLE_TALLY:-}" ]; then
    echo "$1 $2" > "$HEDDLE_TALLY"
    echo "$preset: $1 of $(($1 + $2)) tests passed"
  else
    echo "$1 passed, $2 failed"
  fi
  [ "$2" -eq 0 ]
  exit
}

if ! cmake --preset "$preset" > /dev/null ||
   ! cmake --build "$build" --target ${HEDDLE_TARGETS:-heddle_checks}; then
  echo "$preset: does not build, no test was run" >&2
  finish 0 1
fi

# ThreadSanitizer of gcc 12 cannot map its shadow on kernels with much address randomisation.
launch=()
case $preset in
  tsan-*) if setarch -R true 2>/dev/null; then launch=(setarch -R); fi ;;
esac
# clang's reports have no names, and suppressions match nothing, where they do not find this program.
if [ -x /usr/lib/llvm-19/bin/llvm-symbolizer ]; then export PATH="$PATH:/usr/lib/llvm-19/bin"; fi

log=$build/ctest.log
status=0
${launch[@]+"${launch[@]}"} ctest --test-dir "$build" --output-on-failure --no-tests=error \
  -j "$jobs" "$@" 2>&1 | tee "$log" || status=$?

# ctest names the files of tests that failed; the tests in them have names, too.
sed -n 's/^\[  FAILED  \] \([A-Za-z0-9_]*[.\/][^ ,]*\).*/\1/p' "$log" | sort -u | sed 's/^/failed: /'

# "97% tests passed, 1 tests failed out of 40": skipped tests are in the 40 and did not fail;
# tests whose program is missing are among the failed.
summary=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1)
if [ -z "$summary" ]; then
  echo "$preset: ctest gave no summary (status $status)" >&2
  finish 0 1
fi
read -r failed total <<< "$summary"
skipped=$(sed -n '/^The following tests did not run:$/,/^$/p' "$log" | grep -c '(Skipped)$' || true)
[ "$skipped" -eq 0 ] || echo "$preset: $skipped tests were skipped"
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
  echo "$preset: ctest ended with status $status though no test failed" >&2
  failed=1
  total=$((total + 1))
fi
finish $((total - failed - skipped)) "$failed"
