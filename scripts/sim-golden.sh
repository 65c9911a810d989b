#!/bin/sh
# Writes tests/sim/golden.json: virtual times of small annotated programs. usage: scripts/sim-golden.sh BUILD
set -eu
build=${1:?usage: scripts/sim-golden.sh BUILD}
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp)
trap 'rm -f "$scratch" "$scratch.all"' EXIT
separator='['
{
  for program in fib loop; do
    for policy in random_ws; do
      for workers in 1 16 64; do
        "$build/heddle" sim --machine skylake-4x16 --policy $policy --workers $workers --no-serial --json "$scratch" \
          -- "$build/tests/sim_programs/$program" > /dev/null
        time=$(sed -n 's/^ *"virtual_seconds": \([0-9.e-]*\),*/\1/p' "$scratch")
        printf '%s\n {"program": "%s", "machine": "skylake-4x16", "policy": "%s", "workers": %s, "virtual_seconds": %s}' \
          "$separator" $program $policy $workers "$time"
        separator=','
      done
    done
  done
  printf '\n]\n'
} > "$scratch.all"
cp "$scratch.all" "$root/tests/sim/golden.json"   # whole, or not at all
