#!/usr/bin/env python3
"""Runs programs of other people on heddle's OpenMP library: do they end, are their numbers right, how long do they take.

  scripts/openmp-applications.py FOLDER                         each command 100 times on heddle
  scripts/openmp-applications.py FOLDER --match 'mkl 4x4'       those whose names contain this
  scripts/openmp-applications.py FOLDER --measure --json FILE   times, runtimes in turns

FOLDER holds, at any depth, what there is of these; nothing is fetched, and what is missing is left out:
  libmkl_rt.so.3      MKL, for example of the PyPI packages mkl and intel-openmp
  libopenblas.so.0    OpenBLAS compiled with OpenMP, for example of Debian's libopenblas0-openmp
  lammps/             LAMMPS with its package OPENMP: lmp, liblammps.so.0, and its libmpi
Parallel loops inside of parallel regions are always there (`nested`).

Runtimes: heddle (LD_PRELOAD), heddle-path (LD_LIBRARY_PATH, under the name of the program's own library), heddle-run
(`heddle run`), own (what the program was linked with), libgomp, libomp, libiomp (LD_PRELOAD). The build folder needs the
targets openmp, heddle_openmp_nested, heddle_blas, heddle_insitu and heddle_cli. The exit status is 1 if a run on heddle
hung, failed, or computed wrong numbers.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from openmp_applications import blas, common, lammps, nested  # noqa: E402  (the path has to be set before)


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder', help='where the applications are')
    p.add_argument('--build', default=os.path.join(HERE, '..', 'build', 'release'), help="heddle's build folder (%(default)s)")
    p.add_argument('--match', default='', help='only commands whose names contain one of these, with commas')
    p.add_argument('--runtime', default='', help='with commas (heddle; to measure: heddle,own,libomp)')
    p.add_argument('--runs', type=int, default=100, help='of each command (%(default)s)')
    p.add_argument('--jobs', type=int, default=2, help='at a time (%(default)s)')
    p.add_argument('--limit', type=float, default=60, help='seconds a run may take (%(default)s)')
    p.add_argument('--measure', action='store_true', help='times instead of outcomes')
    p.add_argument('--rounds', type=int, default=5, help='of --measure (%(default)s)')
    p.add_argument('--json', default='', help='a file for what was found')
    return p.parse_args()


def chosen(cases, match):
    return [c for c in cases if not match or any(m in c.name for m in match.split(','))]


def check(options, runtimes, cases):
    found, bad = {}, 0
    print('| command | runtime | runs | right | hangs | other |\n| --- | --- | ---: | ---: | ---: | --- |')
    own, = common.runtimes(options, ['own'])
    for case in cases:
        if case.compared and common.once(case, own, options) is None:
            print(f'{case.name} does not run on its own runtime: nothing to compare with')
            bad += 1
            continue
        for runtime in runtimes:
            if case.only and runtime.name not in case.only:
                continue
            counts, told = common.repeat(case, runtime, options)
            others = {k: v for k, v in counts.items() if k not in ('pass', 'hang')}
            print(f'| {case.name} | {runtime.name} | {options.runs} | {counts.get("pass", 0)} | {counts.get("hang", 0)} '
                  f'| {others or ""} |', flush=True)
            found.setdefault(case.name, {})[runtime.name] = counts
            if counts.get('pass', 0) != options.runs:
                print(told)
                bad += runtime.name.startswith('heddle')
    return found, bad


def measure(options, runtimes, cases, keep):
    table = common.measure(cases, runtimes, options, keep)
    names = [r.name for r in runtimes]
    print('| command | ' + ' | '.join(f'{n}: median (least), s' for n in names) + ' |\n| --- |' + ' ---: |' * len(names))
    for name, row in table.items():
        cells = ['' if n not in row else f'{row[n]["median"]:.4g} ({row[n]["least"]:.4g})' if 'median' in row[n]
                 else 'hangs, fails or is wrong' for n in names]
        print(f'| {name} | ' + ' | '.join(cells) + ' |')
    return table


def main():
    given = parse()
    options = common.Options(os.path.abspath(given.folder), os.path.abspath(given.build), given.limit, given.jobs, given.runs,
                             given.rounds, given.match)
    names = given.runtime or ('heddle,own,libomp' if given.measure else 'heddle')
    runtimes = common.runtimes(options, names.split(','))
    parts = [m.to_measure if given.measure else m.to_check for m in (nested, blas, lammps)]
    cases = chosen([c for part in parts for c in part(options)], given.match)
    if not cases:
        print('nothing of what is run here is below', options.folder)
        return 77

    def keep(found):
        if given.json:
            with open(given.json, 'w', encoding='utf-8') as f:
                json.dump({'machine': common.machine(), 'what': 'seconds' if given.measure else 'outcomes', 'found': found}, f,
                          indent=1)
                f.write('\n')

    if given.measure:
        measure(options, runtimes, cases, keep)
        return 0
    found, bad = check(options, runtimes, cases)
    keep(found)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
