#!/usr/bin/env python3
"""Runs public suites of OpenMP on heddle and on the runtimes of GNU and LLVM, and compares with what is expected.

  scripts/openmp-suites.py FOLDER                        every suite that is below FOLDER, on heddle
  scripts/openmp-suites.py FOLDER --suite bots           one of them: llvm, bots, kastors, epcc
  scripts/openmp-suites.py FOLDER --runtime gcc,clang    on libgomp by gcc and libomp by clang
What EPCC's constructs cost: scripts/openmp-constructs.py.

FOLDER has to hold, under these names, what it is to run; nothing is fetched:
  llvm*      sources of LLVM with openmp/runtime/test, and lit, FileCheck and not: --lit, --tools
  bots       bsc-pm/bots
  kastors    UFRGS-PPGC/kastors-benchmark
  epcc       EPCC OpenMP micro-benchmarks 3.1

Runtimes: gcc and clang with their own library; heddle-gcc and heddle-clang with that of --library. The list of tests that
are expected to fail is tests/omp/suites.json; --record writes what was seen there. The exit status is 1 if a test failed
that was not expected to.
"""
import argparse
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from openmp_suites import bots, common, epcc, kastors, llvm  # noqa: E402  (the path has to be set before)

SUITES = {s.NAME: s for s in (llvm, bots, kastors, epcc)}
EXPECTED = os.path.join(HERE, '..', 'tests', 'omp', 'suites.json')


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder', help='where the suites are')
    p.add_argument('--suite', default='', help='of llvm, bots, kastors, epcc, with commas (default: those that are there)')
    p.add_argument('--runtime', default='heddle-gcc,heddle-clang', help='gcc, clang, heddle-gcc, heddle-clang (%(default)s)')
    p.add_argument('--library', default=os.path.join(HERE, '..', 'build', 'release', 'openmp'),
                   help="heddle's folder with libgomp.so.1 and libomp.so.5 (%(default)s)")
    p.add_argument('--gcc', default='gcc-12', help='(%(default)s)')
    p.add_argument('--clang', default='clang-19', help='(%(default)s)')
    p.add_argument('--work', default='', help='folder for what is compiled (default: FOLDER/work)')
    # Four of LLVM's tests sleep for 250 s, which their threads share: 125 s on two processors, on any runtime.
    p.add_argument('--limit', type=float, default=300, help='seconds a test may take (%(default)s)')
    p.add_argument('--most', type=int, default=0, help='llvm: seconds for all tests together; 0: no limit')
    p.add_argument('--threads', type=int, default=2, help='OMP_NUM_THREADS, but for llvm (%(default)s)')
    p.add_argument('--jobs', type=int, default=1, help='tests at a time (%(default)s)')
    p.add_argument('--match', default='', help='only tests whose names contain this (llvm: a regular expression)')
    p.add_argument('--lit', default='lit', help='the program lit (%(default)s)')
    p.add_argument('--tools', default='', help='folder with FileCheck and not')
    p.add_argument('--json', default='', help='a file for all outcomes')
    p.add_argument('--record', action='store_true', help='write the failures that were seen to the list of expected ones')
    return p.parse_args()


def is_there(name, folder):
    if name == llvm.NAME:
        return any(entry.startswith('llvm') and os.path.isdir(os.path.join(folder, entry)) for entry in os.listdir(folder))
    return os.path.isdir(os.path.join(folder, name))


def report(suite, runtime, outcomes, expected):
    """Prints a line and the failures. The tests that were not expected to fail."""
    failed = {t: o for t, o in outcomes.items() if o not in ('pass', 'skipped')}
    hangs = sum(o == 'hang' for o in failed.values())
    known = set(expected.get(suite, {}).get(runtime, {}).get('failed', []))
    fresh = sorted(set(failed) - known)
    skipped = sum(o == 'skipped' for o in outcomes.values())
    print(f'| {suite} | {runtime} | {len(outcomes)} | {sum(o == "pass" for o in outcomes.values())} | {len(failed)} | {hangs} '
          f'| {skipped} | {len(fresh)} |', flush=True)
    return failed, fresh


def main():
    given = parse()
    folder = os.path.abspath(given.folder)
    options = common.Options(folder, os.path.abspath(given.work or os.path.join(folder, 'work')), given.limit, given.threads,
                             given.jobs, given.match, given.lit, given.tools, given.most)
    os.makedirs(options.work, exist_ok=True)
    compilers = {'gcc': shutil.which(given.gcc), 'clang': shutil.which(given.clang)}
    names = given.runtime.split(',')
    runtimes = [common.Runtime(n, compilers[n.split('-')[-1]], os.path.abspath(given.library) if '-' in n else '')
                for n in names if compilers.get(n.split('-')[-1])]
    expected = {}
    if os.path.exists(EXPECTED):
        with open(EXPECTED, encoding='utf-8') as f:
            expected = json.load(f)
    suites = given.suite.split(',') if given.suite else [s for s in SUITES if is_there(s, folder)]
    everything, failures, unexpected = {}, [], 0
    print('| suite | runtime | tests | pass | fail | of them hangs | skipped | not expected |\n'
          '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |')
    for suite in suites:
        for runtime in runtimes:
            outcomes = SUITES[suite].run(options, runtime)
            if not outcomes:
                continue
            everything.setdefault(suite, {})[runtime.name] = outcomes
            failed, fresh = report(suite, runtime.name, outcomes, expected)
            unexpected += len(fresh)
            failures += [f'{suite} {runtime.name} {t}: {o}{"" if t in fresh else " (expected)"}'
                         for t, o in sorted(failed.items())]
            if given.record and not given.match:
                expected.setdefault(suite, {})[runtime.name] = {
                    'tests': len(outcomes), 'passed': sum(o == 'pass' for o in outcomes.values()), 'failed': sorted(failed)}
    print('\n'.join(failures))
    if given.record:
        with open(EXPECTED, 'w', encoding='utf-8') as f:
            json.dump(expected, f, indent=1, sort_keys=True)
            f.write('\n')
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as f:
            json.dump(everything, f, indent=1)
    return 1 if unexpected else 0


if __name__ == '__main__':
    sys.exit(main())
