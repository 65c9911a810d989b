#!/usr/bin/env bash
# All tests of every sanitizer preset and of the audit preset with ten times the work (twice, under ThreadSanitizer, which
# takes ten times as long), the explorer's mutants and its long form (scripts/nightly.sh), foreign code in preemptive threads for a
# minute a test, then the AArch64 context switch under emulation. Goes on after a failure; the last line adds all up.
#   HEDDLE_STRESS   multiplier of the work, of all presets
#   HEDDLE_TEST_SECONDS  of each test of foreign code (60)
#   HEDDLE_PRESETS  which presets (asan audit tsan-gcc tsan-clang)
set -euo pipefail
cd "$(dirname "$0")/.."

presets=${HEDDLE_PRESETS:-asan audit tsan-gcc tsan-clang}
HEDDLE_TALLY=$(mktemp)
export HEDDLE_TALLY
trap 'rm -f "$HEDDLE_TALLY"' EXIT

passed=0
failed=0
for preset in $presets; do
  case $preset in
    tsan-*) stress=${HEDDLE_STRESS:-2} ;;
    *) stress=${HEDDLE_STRESS:-10} ;;
  esac
  echo "stress: $preset, HEDDLE_STRESS=$stress"
  echo "0 1" > "$HEDDLE_TALLY"
  HEDDLE_STRESS=$stress scripts/test.sh "$preset" -LE '^(short|mutants)$' || true
  read -r p f < "$HEDDLE_TALLY"
  passed=$((passed + p))
  failed=$((failed + f))
done

echo "0 1" > "$HEDDLE_TALLY"
scripts/nightly.sh || true
read -r p f < "$HEDDLE_TALLY"
passed=$((passed + p))
failed=$((failed + f))

seconds=${HEDDLE_TEST_SECONDS:-60}
echo "stress: foreign code in preemptive threads, $seconds s a test"
if cmake --preset release >/dev/null && cmake --build --preset release --target tests_worker &&
   HEDDLE_TEST_SECONDS=$seconds timeout $((100 * seconds + 600)) \
     build/release/tests/worker_tests preempt_foreign_test --gtest_brief=1; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

if scripts/aarch64-check.sh; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
