#!/usr/bin/env bash
# The pictures of the documents, in docs/figures: process.svg is drawn, report.png comes from a simulated run, and the
# others come from measured data.
# `make figures` builds what it needs. PYTHON: one that has matplotlib (Debian's python3-matplotlib: /usr/bin/python3).
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release
data=docs/investigations/data/2026-11-22-forms.json
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 scripts/process_figure.py draw docs/figures/process.svg
"${PYTHON:-/usr/bin/python3}" scripts/speed_figure.py "$data" docs/figures/speed.svg
"${PYTHON:-/usr/bin/python3}" scripts/openmp_figures.py docs/investigations/data/2026-11-23-openmp-nested.json \
  docs/figures/openmp_nested_loops.svg
"${PYTHON:-/usr/bin/python3}" scripts/reproduction_figure.py docs/figures/reproduction.svg \
  docs/investigations/data/reproduction/*.json

# A sort on eight workers of a modelled machine: the same picture on every machine.
"$build/heddle" sim --machine skylake-4x16 --workers 8 --no-serial --trace "$scratch/quicksort.heddle" -- \
  "$build/libexec/heddle/heddle-bench-heddle-shared" --kernel quicksort --workers 8 --samples 1 --warmup 0 --n 300000 > /dev/null
"$build/heddle" report "$scratch/quicksort.heddle" -o "$scratch/report.html" > /dev/null
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,760 --virtual-time-budget=5000 \
  --screenshot="$PWD/docs/figures/report.png" "file://$scratch/report.html" > /dev/null 2>&1
ls -l docs/figures
