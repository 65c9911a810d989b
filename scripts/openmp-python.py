#!/usr/bin/env python3
"""Runs Python packages' own tests on heddle and on their own runtimes of OpenMP, or measures programs that use them.

  scripts/openmp-python.py ENVIRONMENT                          tests, compared one by one
  scripts/openmp-python.py ENVIRONMENT --match sklearn          of the suites whose names contain this
  scripts/openmp-python.py ENVIRONMENT --measure --json FILE    times, runtimes in turns

ENVIRONMENT is a virtual environment with pytest and any of numpy, scipy, scikit-learn (with hypothesis: SciPy's tests) and
torch (with expecttest, hypothesis); nothing is fetched, and what is missing is left out. Where it has the wheel of heddle,
`python -m heddle` is tried as well as `heddle run`. The build folder needs the targets openmp and heddle_cli.

A test that passes on its own runtime and not on heddle is repeated on both; the exit status is 1 if there is one.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from openmp_applications.common import machine  # noqa: E402  (the path has to be set before)
from openmp_python import comparison, measurement, suites  # noqa: E402


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('environment', help='a virtual environment')
    p.add_argument('--build', default=os.path.join(HERE, '..', 'build', 'release'), help="heddle's build folder (%(default)s)")
    p.add_argument('--match', default='', help='only suites or programs whose names contain one of these, with commas')
    p.add_argument('--threads', default='4', help='OMP_NUM_THREADS of the tests, one or several with commas (%(default)s)')
    p.add_argument('--limit', type=float, default=900, help='seconds a suite may take, or a program (%(default)s)')
    p.add_argument('--again', type=int, default=3, help='repetitions of what is worse on heddle (%(default)s)')
    p.add_argument('--measure', action='store_true', help='times of programs instead of outcomes of tests')
    p.add_argument('--rounds', type=int, default=5, help='of --measure (%(default)s)')
    p.add_argument('--repeat', type=int, default=3, help='of --measure: repetitions in a process (%(default)s)')
    p.add_argument('--json', default='', help='a file for what was found')
    return p.parse_args()


def test(given, python, chosen, wanted, keep):
    found, bad = [], 0
    print('| tests | threads | runtime | right | wrong | left out | s |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |')
    for given.threads in given.threads.split(','):
        for suite in wanted:
            outcomes, stays = comparison.compare(suite, python, chosen, given)
            for name, o in outcomes.items():
                right = o.count(comparison.RIGHT) - o.count(('skipped',))
                wrong = len(o.by_test) - o.count(comparison.RIGHT)
                print(f'| {suite.name} | {given.threads} | {name} | {right} | {wrong} | {o.count(("skipped",))} | {o.seconds:.0f} |',
                      flush=True)
                found.append({'suite': suite.name, 'threads': int(given.threads), 'runtime': name, 'right': right, 'wrong': wrong,
                              'left_out': o.count(('skipped',)), 'seconds': round(o.seconds, 1),
                              'wrong_tests': {t: k for t, k in o.by_test.items() if k not in comparison.RIGHT},
                              'worse': stays.get(name, {})})
                for text in o.told:
                    print(text)
            for name, tests in stays.items():
                for one, row in tests.items():
                    print(f'worse with {name}: {one}: {row}', flush=True)
                    bad += row[name] < row['of'] or row['outcome'] not in ('failed',)
            keep({'what': 'outcomes', 'found': found})
    return bad


def main():
    given = parse()
    python = os.path.join(os.path.abspath(given.environment), 'bin', 'python')
    if not os.path.exists(python):
        sys.exit(f'openmp-python: no virtual environment: {given.environment}')
    chosen = comparison.runtimes(python, os.path.abspath(given.build))
    matches = [m for m in given.match.split(',') if m] or ['']

    def keep(table):
        if given.json:
            with open(given.json, 'w', encoding='utf-8') as f:
                json.dump({'machine': machine(), **table}, f, indent=1)
                f.write('\n')

    if given.measure:
        chosen.pop('module', None)
        return measurement.measure(given, python, list(chosen.values()), matches, keep)
    wanted = [s for s in suites.SUITES if any(m in s.name for m in matches) and comparison.has(python, s.package)]
    if not wanted or not comparison.has(python, 'pytest'):
        print('none of the packages, or no pytest, is in', given.environment)
        return 77
    return 1 if test(given, python, list(chosen.values()), wanted, keep) else 0


if __name__ == '__main__':
    sys.exit(main())
