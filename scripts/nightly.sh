#!/usr/bin/env bash
# What is too long for every change, in preset nightly: every mutant of the explorer, the long forms of the explorer's
# scenarios and of the stress tests, the tests that run over all policies with all numbers of workers, compiled as users'
# programs are, the OpenMP programs and Python packages with all numbers of threads, each public header alone, and all
# benchmarks in their smallest form. Last line: "N passed, N failed".
#   HEDDLE_STRESS   multiplier of the work (1: 3000 schedules of each scenario)
#   HEDDLE_TALLY    as for scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export HEDDLE_STRESS=${HEDDLE_STRESS:-1}
export HEDDLE_TARGETS="tests_sim_explore tests_stress tests_loop tests_task tests_wait tests_worker mutants heddle_bench_serial tests_cli tests_omp tests_python"
status=0
scripts/bench.sh --smoke --own --build build/nightly || status=1
scripts/test.sh nightly -L '^(mutants|sim_explore|stress|loop|windows|task|wait|worker|cli)$' || status=1
exit "$status"
