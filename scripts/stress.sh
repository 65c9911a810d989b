#!/usr/bin/env bash
# All tests of every sanitizer preset with ten times the work, then the AArch64 context switch
# under emulation. Goes on after a failure; the last line adds all up.
#   HEDDLE_STRESS   multiplier of the work (10)
#   HEDDLE_PRESETS  which presets (asan ubsan tsan-gcc tsan-clang)
set -euo pipefail
cd "$(dirname "$0")/.."

export HEDDLE_STRESS=${HEDDLE_STRESS:-10}
presets=${HEDDLE_PRESETS:-asan ubsan tsan-gcc tsan-clang}
HEDDLE_TALLY=$(mktemp)
export HEDDLE_TALLY
trap 'rm -f "$HEDDLE_TALLY"' EXIT

passed=0
failed=0
for preset in $presets; do
  echo "stress: $preset, HEDDLE_STRESS=$HEDDLE_STRESS"
  echo "0 1" > "$HEDDLE_TALLY"
  scripts/test.sh "$preset" -LE '^short$' || true
  read -r p f < "$HEDDLE_TALLY"
  passed=$((passed + p))
  failed=$((failed + f))
done

if scripts/aarch64-check.sh; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
