#!/usr/bin/env bash
# Everything of docs/reproduction.md anew. `make reproduction` builds what it needs.
# usage: scripts/reproduction.sh [full|medium|quick] [ID...]
#   full    the papers' sizes where an hour a figure suffices, and this machine's own: the data, the page and the picture of docs/
#   medium  sizes between the two, simulated alone: the same files; what was measured before stays
#   quick   small sizes, simulated alone: a page and a picture in build/reproduction/quick; with PUBLISH=1 the files of docs/, as medium
# A run that was killed goes on where it was: what build/reproduction/SCALE/runs.jsonl has is not run again, unless the
# programs or the simulator were built anew meanwhile. ID: experiments of `heddle paper list`, or papers; default: all.
# JOBS: simulated runs at once; default: the processors. PYTHON: one that has matplotlib (Debian's
# python3-matplotlib: /usr/bin/python3).
set -euo pipefail
cd "$(dirname "$0")/.."
scale=${1:-full}
shift || true
heddle=build/release/heddle
into=build/reproduction/$scale
also='' data=docs/investigations/data/reproduction page=docs/reproduction.md picture=docs/figures/reproduction.svg
case $scale in
  full) also=--real ;;
  medium) ;;
  quick) [ -n "${PUBLISH:-}" ] || data=$into page=$into/reproduction.md picture=$into/figures/reproduction.svg ;;
  *) sed -n '3,6p' "$0" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
"$heddle" paper run "${@:-all}" --scale "$scale" --jobs "${JOBS:-$(nproc)}" $also --into "$into"
mkdir -p "$data" "$(dirname "$picture")"
# of rows that are in both the new ones count, but for what the run was not asked for
[ "$data" = "$into" ] || "$heddle" paper judge "$data"/*.json "$into"/*.json --into "$data" >/dev/null
"$heddle" paper report "$data"/*.json --output "$page"
"${PYTHON:-/usr/bin/python3}" scripts/reproduction_figure.py "$picture" "$data"/*.json
echo "$page $picture"
