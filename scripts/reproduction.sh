#!/usr/bin/env bash
# Everything of docs/reproduction.md anew. `make reproduction` builds what it needs.
# usage: scripts/reproduction.sh [full|quick] [ID...]
#   full   the papers' sizes where an hour a figure suffices, and this machine's own: the data, the page and the picture of docs/
#   quick  small sizes, simulated alone: a page and a picture in build/reproduction/quick
# A run that was killed goes on where it was: what build/reproduction/SCALE/runs.jsonl has is not run again, unless the
# programs or the simulator were built anew meanwhile. ID: experiments of `heddle paper list`, or papers; default: all.
# PYTHON: one that has matplotlib (Debian's python3-matplotlib: /usr/bin/python3).
set -euo pipefail
cd "$(dirname "$0")/.."
scale=${1:-full}
shift || true
heddle=build/release/heddle
into=build/reproduction/$scale
case $scale in
  full) also=--real data=docs/investigations/data/reproduction page=docs/reproduction.md picture=docs/figures/reproduction.svg ;;
  quick) also='' data=$into page=$into/reproduction.md picture=$into/figures/reproduction.svg ;;
  *) sed -n '3,5p' "$0" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
"$heddle" paper run "${@:-all}" --scale "$scale" $also --into "$into"
mkdir -p "$data" "$(dirname "$picture")"
[ "$data" = "$into" ] || cp "$into"/*.json "$data"
"$heddle" paper report "$data"/*.json --output "$page"
"${PYTHON:-/usr/bin/python3}" scripts/reproduction_figure.py "$picture" "$data"/*.json
echo "$page $picture"
