#!/usr/bin/env bash
# bench.sh [--smoke] [--own] [--main] [--build DIR] [--repeat N]: builds the benchmark programs, runs every measure of the project against
# its rivals, writes build/bench/*.json and prints measure, best rival in the same run, heddle, what is to be reached.
# --smoke: everything once at tiny sizes, under a minute; its figures mean nothing, its results are checked.
# --own: heddle's programs and the serial ones alone, without those of rivals.
# --main: the main kernels alone, of heddle and serial, at the sizes of --smoke; CI runs this.
# Exit status 1 if any result differs from serial's.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/release
repeat=7
smoke=
rivals=all
targets=heddle_bench
main=
while [ $# -gt 0 ]; do
  case $1 in
    --smoke) smoke=yes ;;
    --own) rivals=none; targets=heddle_bench_own ;;
    --main) smoke=yes; main=yes; rivals=none ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    --repeat) repeat=${2:?--repeat needs a number}; shift ;;
    *) echo "bench.sh: unknown argument '$1'; known: --smoke --own --main --build DIR --repeat N" >&2; exit 2 ;;
  esac
  shift
done

if [ -n "$main" ]; then
  targets=heddle_bench_smoke
  HEDDLE_BENCH_DIR=$PWD/$build/libexec/heddle-smoke
  export HEDDLE_BENCH_DIR
fi

[ -f "$build/CMakeCache.txt" ] || cmake --preset "$(basename "$build")" --log-level=NOTICE
cmake --build "$build" --target heddle_cli "$targets" openmp

heddle=$build/heddle
out=build/bench
mkdir -p "$out"
status=0
files=()
measure() {   # name, arguments of heddle bench
  local name=$1
  shift
  echo "== $name" >&2
  "$heddle" bench "$@" --rivals "$rivals" --json "$out/$name.json" > "$out/$name.txt" || status=1
  [ ! -s "$out/$name.json" ] || files+=("$out/$name.json")
}

if [ -n "$smoke" ]; then
  out=$out/smoke
  mkdir -p "$out"
  once=(--workers 2 --repeat 1)
  measure fib fib "${once[@]}" --n 16
  measure spawn spawn "${once[@]}" --n 12
  measure join join "${once[@]}" --n 1000 --variant pair
  measure thread thread "${once[@]}" --n 2000
  measure loop loop "${once[@]}" --iterations 50
  measure channel channel "${once[@]}" --n 20000
  measure nested nested "${once[@]}" --iterations 10
  measure wide wide "${once[@]}" --workers 4 --n 1 --iterations 3
  measure matmul matmul "${once[@]}" --n 200
  measure heat heat "${once[@]}" --n 100 --columns 70 --leaf 3 --iterations 3
  measure decision_tree decision_tree "${once[@]}" --n 2000
  measure isosurface isosurface "${once[@]}" --n 20
fi
if [ -n "$smoke" ] && [ -z "$main" ]; then
  measure trees nqueens "${once[@]}" --n 7
  measure skynet skynet "${once[@]}" --n 1000
  measure uts uts "${once[@]}" --n 5 --variant binomial
  measure heat2d heat2d "${once[@]}" --n 200 --iterations 3
  measure space stencil6 stencil25 "${once[@]}" --n 30 --columns 20 --leaf 3 --iterations 3
  measure ge ge "${once[@]}" --n 100 --leaf 3
  measure sweep sweep "${once[@]}" --n 12 --columns 20 --iterations 2
  measure cells cells "${once[@]}" --n 200 --iterations 2
  measure spmv spmv "${once[@]}" --n 3000 --iterations 2
  measure images convolve "${once[@]}" --n 60 --iterations 2
  measure computing cholesky ga mandelbrot "${once[@]}" --n 60
  measure searches checkers "${once[@]}" --n 6
  measure knapsack knapsack "${once[@]}" --n 24
  measure sorts quicksort mergesort "${once[@]}" --n 20000
  measure fft fft "${once[@]}" --n 8192
  measure rendezvous rendezvous "${once[@]}" --n 50
  measure wavefront wavefront "${once[@]}" --n 16
  measure idle idle "${once[@]}" --n 1 --variant quiet
  measure memory memory "${once[@]}" --n 15 --iterations 1000
  measure lu lu "${once[@]}" --n 200
  measure rows sor stencil9 "${once[@]}" --n 100 --columns 70 --leaf 3 --iterations 3
fi
if [ -z "$smoke" ]; then
  measure fork_join fib --workers 1,2 --repeat "$repeat"
  measure trees skynet nqueens uts --workers 1,2 --repeat "$repeat"
  measure spawn spawn --workers 1,2 --repeat "$repeat"
  measure thread thread --workers 1,2 --repeat "$repeat"
  measure loop loop --workers 1,2 --repeat "$repeat"
  measure channel channel --workers 1,2 --repeat "$repeat"
  measure nested nested --workers 2 --repeat "$repeat"
  measure rendezvous rendezvous --workers 2 --repeat "$repeat"
  measure wide wide --workers 2,4,8 --repeat "$repeat"
  measure join join --workers 1,2 --repeat "$repeat"
  measure wavefront wavefront --workers 1,2 --repeat "$repeat"
  measure arrays matmul quicksort mergesort heat2d lu fft --workers 1,2 --repeat "$repeat"
  measure rows heat sor ge stencil9 stencil6 stencil25 --workers 1,2 --repeat "$repeat"
  measure meshes cells sweep spmv convolve isosurface --workers 1,2 --repeat "$repeat"
  measure computing cholesky checkers mandelbrot ga knapsack --workers 1,2 --repeat "$repeat"
  measure decision_tree decision_tree --workers 1,2 --repeat "$repeat"
  measure idle idle --workers 2 --repeat 1
  measure memory_fib memory --workers 2 --repeat 3 --variant fib
  measure memory_deep memory --workers 2 --repeat 1 --variant deep
  measure memory_blocked memory --workers 2 --repeat 1 --variant blocked
fi

echo "== openmp" >&2
openmp=(--programs "$build/libexec/heddle" --library "$build/openmp" --json "$out/openmp-constructs.json")
scripts/openmp-constructs.py "${openmp[@]}" ${smoke:+--smoke} > "$out/openmp-constructs.txt" || status=1

if [ -n "$smoke" ]; then
  cat "$out"/*.txt
  exit "$status"
fi
cat "$out/openmp-constructs.txt"
joined=$(IFS=,; echo "${files[*]}")
"$heddle" bench --from "$joined" || status=1
exit "$status"
