#!/usr/bin/env bash
# cachegrind-check.sh [--build DIR] [--small]: the simulator's caches against valgrind's cachegrind, on the same runs of serial kernels.
# For each kernel: cachegrind counts misses of a first level (data) and a last level; lackey writes the run's accesses, which
# heddle-cache-replay sends through the memory model with caches of the same form. Prints a table, Markdown; exit status 1 if
# a count differs by more than 10 % (and by more than 100). "both lines": accesses over two lines that missed both, which the model counts
# twice and cachegrind once. Minutes; --small: seconds, sizes that say little about the last level.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/release
small=
while [ $# -gt 0 ]; do
  case $1 in
    --small) small=yes ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    *) echo "cachegrind-check.sh: unknown argument '$1'; known: --build DIR --small" >&2; exit 2 ;;
  esac
  shift
done
if ! command -v valgrind >/dev/null; then
  echo "cachegrind-check.sh: no valgrind here (Debian: apt-get install valgrind)" >&2
  exit 77
fi

[ -f "$build/CMakeCache.txt" ] || cmake --preset release --log-level=NOTICE
cmake --build "$build" --target heddle_cachegrind_kernels heddle_cache_replay >&2
kernels=$build/bench/cachegrind/heddle-cachegrind-kernels
replay=$build/bench/cachegrind/heddle-cache-replay

# The first and second level of a core of 4 x Xeon Gold 6130.
first=32768,8,64
last=1048576,16,64
if [ -n "$small" ]; then
  runs=("matmul 64" "heat2d 64" "mergesort 8000" "quicksort 8000" "fft 2048")
else
  runs=("matmul 320" "heat2d 384" "mergesort 300000" "quicksort 400000" "fft 65536")
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
number() { sed -n "s/.*$1:[[:space:]]*\([0-9,]*\).*/\1/p" "$temporary/cachegrind" | tr -d , | head -1; }
per_cent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.2f", b == 0 ? 0 : 100 * (a - b) / b }'; }

status=0
check() {   # got, cachegrind's
  awk -v a="$1" -v b="$2" 'BEGIN { d = a > b ? a - b : b - a; exit d > 0.1 * b && d > 100 }' || status=1
}
echo "| kernel | data references | D1 misses, cachegrind | D1 misses, model | % | both lines | LL misses (data), cachegrind | LL misses (data), model | % | both lines |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for run in "${runs[@]}"; do
  read -r -a arguments <<<"$run"
  valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null --I1=$first --D1=$first --LL=$last \
    --log-file="$temporary/cachegrind" "$kernels" "${arguments[@]}" >/dev/null
  # The trace goes through a pipe: it has tens of millions of lines.
  valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$kernels" "${arguments[@]}" 9>&1 >/dev/null |
    "$replay" --l1 $first --ll $last >"$temporary/model"
  read -r _ _ references _ _ _ d1 _ ll _ d1_twice _ ll_twice <"$temporary/model"
  d1_tool=$(number 'D1  misses')
  ll_tool=$(number 'LLd misses')
  check "$d1" "$d1_tool"
  check "$ll" "$ll_tool"
  echo "| $run | $references | $d1_tool | $d1 | $(per_cent "$d1" "$d1_tool") | $d1_twice | $ll_tool | $ll | $(per_cent "$ll" "$ll_tool") | $ll_twice |"
done
exit $status
