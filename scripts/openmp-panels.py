#!/usr/bin/env python3
"""Times factorisations whose panels are nested parallel regions with barriers of their own (bench/panels) on OpenMP
runtimes: one run of each in turn, as many rounds as asked for, medians.

  openmp-panels.py --program build/release/libexec/heddle/heddle-panels --openmp build/release/openmp \\
    --shape 2x2 --shape 4x2 --waits spin,yield --rounds 5 --json out.json
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

# The variables of each way to run a program, besides LD_PRELOAD.
WAYS = {
    'libgomp': {},
    'libomp': {},
    'heddle': {},
    'heddle-gang': {'HEDDLE_OMP_TEAMS': 'gang'},
    'heddle-stealing': {'HEDDLE_OMP_TEAMS': 'stealing'},
    'heddle-gang-alone': {'HEDDLE_OMP_TEAMS': 'gang', 'HEDDLE_OMP_PREEMPT': 'off'},
}


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--program', required=True, help='heddle-panels, compiled by gcc')
    p.add_argument('--openmp', required=True, help='folder with libheddle_omp.so')
    p.add_argument('--libomp', default='/usr/lib/llvm-19/lib/libomp.so.5', help='LLVM\'s runtime (%(default)s)')
    p.add_argument('--kernels', default='lu,qr,cholesky')
    p.add_argument('--shape', action='append', help='OUTERxINNER threads; may be repeated (2x2)')
    p.add_argument('--waits', default='spin', help='spin, pause, yield, openmp, separated by commas (%(default)s)')
    p.add_argument('--ways', default='libgomp,libomp,heddle-stealing,heddle-gang', help=f'of {", ".join(WAYS)}')
    p.add_argument('--size', default='--n 1000 --block 50 --tile 50', help='further options (%(default)s)')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--limit', type=float, default=20, help='seconds of a run (%(default)s)')
    p.add_argument('--seconds', type=float, default=280, help='no run begins later (%(default)s)')
    p.add_argument('--json', help='file for all times')
    return p.parse_args()


def environment(way, options):
    e = {k: v for k, v in os.environ.items() if not k.startswith(('OMP_', 'KMP_', 'GOMP_', 'HEDDLE_'))}
    folder = os.path.abspath(options.openmp)
    if way == 'libomp':
        e['LD_PRELOAD'] = options.libomp
    elif way.startswith('heddle'):
        e['LD_PRELOAD'] = f'{folder}/libheddle_omp.so:{folder}/libheddle_omp_waits.so'
    e.update(WAYS[way])
    return e


def one(words, way, options):
    """Seconds of the factorisation, or why there is no such number."""
    try:
        done = subprocess.run(words, env=environment(way, options), capture_output=True, text=True, check=False,
                              timeout=options.limit)
    except subprocess.TimeoutExpired:
        return f'more than {options.limit:g} s'
    if done.returncode != 0:
        return f'status {done.returncode}'
    return statistics.median(float(line.split()[1]) for line in done.stdout.splitlines() if line.endswith('GFlop/s'))


def main():
    options = parse()
    begun = time.monotonic()
    ways = options.ways.split(',')
    cases = [(kernel, shape, waits) for shape in options.shape or ['2x2'] for waits in options.waits.split(',')
             for kernel in options.kernels.split(',')]
    times = {case: {way: [] for way in ways} for case in cases}
    for _ in range(options.rounds):
        for case in cases:
            kernel, shape, waits = case
            outer, inner = shape.split('x')
            words = [options.program, kernel, '--outer', outer, '--inner', inner, '--waits', waits, '--repeat', '1',
                     *options.size.split()]
            for way in ways:
                # What was too slow twice is not run again.
                if sum(isinstance(t, str) for t in times[case][way]) > 1 or time.monotonic() - begun > options.seconds:
                    continue
                times[case][way].append(one(words, way, options))
    print('seconds, median (least) of rounds')
    for case in cases:
        texts = []
        for way in ways:
            numbers = [t for t in times[case][way] if not isinstance(t, str)]
            failed = [t for t in times[case][way] if isinstance(t, str)]
            text = f'{statistics.median(numbers):.4f} ({min(numbers):.4f}, {len(numbers)})' if numbers else ''
            texts.append(f'{way} {text} {" ".join(failed)}'.strip())
        print(f'{" ".join(case)}: ' + '; '.join(texts))
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as f:
            json.dump([{'kernel': k, 'shape': s, 'waits': w, 'times': times[k, s, w]} for k, s, w in cases], f, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
