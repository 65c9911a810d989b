#!/usr/bin/env bash
# Every patch here still finds its place: a mutant whose source has changed is to be brought up to date with it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
status=0
for patch in tests/sim_explore/mutants/*/*.patch; do
  test=$(basename "$(dirname "$patch")")
  if [ ! -f "tests/sim_explore/${test}_test.cpp" ]; then
    echo "$patch: there is no tests/sim_explore/${test}_test.cpp that could find it"
    status=1
  fi
  if ! said=$(patch --dry-run --force -p1 --input="$patch" --output=/dev/null 2>&1); then
    echo "$patch does not apply:"
    echo "$said" | sed 's/^/  /'
    status=1
  fi
done
exit "$status"
