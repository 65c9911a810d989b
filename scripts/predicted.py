#!/usr/bin/env python3
"""What the simulator predicts for a machine, against what was measured there: 19 programs at sizes at which no cost of theirs was fitted.

usage: predicted.py measure HEDDLE OUT.json [--workers 1,2] [--rounds 9] [--before 'COMMAND'] [--programs a,b]
       predicted.py fit     HEDDLE OUT.json --machine FILE [--programs a,b]
       predicted.py predict HEDDLE OUT.json --machine FILE [--sizes fitted] [--workers 1,2] [--seeds 5] [--as-told] [--programs a,b]
       predicted.py table OUT.json [--sizes fitted]

measure: `heddle bench` under adws and random_ws, 3 samples a process, by turns the two policies and the two sizes, the held-out one and that for
fitting, so that a clock that moves is in both; a round's figure is the median of its samples.
--before: a command before each, such as one that keeps others off the processors. fit: what a told cycle is on FILE, which `heddle calibrate -o
FILE` makes there (`heddle sim --cycles`), so that the simulated time of random_ws with one worker is what was measured at the size for fitting;
one number a program. predict: the held-out size in the simulator on FILE with that number, or with 1 (--as-told); a pair of seeds for each of
--seeds. OUT.json keeps all figures, by size and program; what is there already of that kind is replaced. table: Markdown.

--sizes fitted: what is predicted, or shown, at the sizes at which cycles are fitted, the benchmarks' own; without it the held-out ones.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

# Held-out size, and the one at which cycles may be fitted.
PROGRAMS = {
    'fib': ('--n 32', '--n 35'),
    'nqueens': ('--n 11', '--n 12'),
    'uts': ('--n 19', '--n 584'),
    'skynet': ('--n 100000', '--n 1000000'),
    'matmul': ('--n 768', '--n 1024'),
    'quicksort': ('--n 1500000', '--n 4000000'),
    'mergesort': ('--n 1500000', '--n 4000000'),
    'heat2d': ('--n 1536', '--n 2048'),
    'lu': ('--n 768', '--n 1024'),
    'fft': ('--n 262144', '--n 1048576'),
    'cholesky': ('--n 768', '--n 1024'),
    'mandelbrot': ('--n 700', '--n 1024'),
    'rrm': ('--n 1048576', '--n 2097152'),
    'bufsort': ('--n 1000000', '--n 2097152'),
    'kdtree': ('--n 300000', '--n 700000'),
    'cart': ('--n 50000', '--n 100000'),
    'sph2d': ('--n 20000', '--n 50000'),
    'sph3d': ('--n 8000', '--n 20000'),
    'decision_tree': ('--n 80000', '--n 200000'),
}
POLICIES = ('adws', 'random_ws')
SAMPLES = 3
FIRST_SEED = 42
LEAST_CYCLES = 0.01  # of the factors tried: with it a program is next to all memory and scheduler
SECONDS = {'s': 1, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()[-400:] or f'status {done.returncode}'}")


def rows_of(file):
    """Of the first metric of a kernel: {(policy, workers): samples in seconds}."""
    with open(file, encoding='utf-8') as f:
        rows = [row for row in json.load(f)['rows'] if row['runtime'] == 'heddle']
    if not all(row['checked'] for row in rows):
        raise RuntimeError(f'{file}: a result is wrong')
    first = rows[0]['metric']
    return {(row['policy'], row['workers']): [sample * SECONDS[row['unit']] for sample in row['samples']] for row in rows if row['metric'] == first}


def measured(given, name):
    """For the held-out size and the other one: {'policy workers': a figure a round}."""
    made = [{}, {}]
    for _ in range(given.rounds):
        for size, figures in zip(PROGRAMS[name], made):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, 'rows.json')
                run([*shlex.split(given.before), given.heddle, 'bench', name, *size.split(), '--policy', ','.join(POLICIES), '--workers',
                     given.workers, '--rivals', 'none', '--repeat', '1', '--samples', str(SAMPLES), '--json', file])
                for (policy, workers), samples in rows_of(file).items():
                    figures.setdefault(f'{policy} {workers}', []).append(statistics.median(samples))
    return made


def simulated(given, name, size, policy, workers, seed, cycles):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'rows.json')
        run([given.heddle, 'sim', '--machine', given.machine, '--policy', policy, '--workers', str(workers), '--no-serial', '--fast', '--seed',
             str(FIRST_SEED + seed), '--cycles', f'{cycles:.6g}', '--', given.heddle, 'bench', name, *size.split(), '--repeat', '1', '--samples',
             str(SAMPLES), '--json', file])
        return statistics.median(next(iter(rows_of(file).values())))


def fitted(given, name, size, real):
    """(factor, time): by secants, for the time is all but a straight line in the factor."""
    def time(cycles):
        return simulated(given, name, size, 'random_ws', 1, 0, cycles)
    low, at_low = LEAST_CYCLES, time(LEAST_CYCLES)
    if at_low >= real:
        return low, at_low
    factor, at = 1.0, time(1.0)
    for _ in range(6):
        if abs(at / real - 1) < 0.005 or at <= at_low:
            break
        step = factor + (real - at) * (factor - low) / (at - at_low)
        if at < real:
            low, at_low = factor, at
        factor = min(max(step, LEAST_CYCLES), 100)
        at = time(factor)
    return factor, at


def predicted(given, name, size, cycles):
    return {f'{policy} {workers}': [simulated(given, name, size, policy, workers, seed, cycles) for seed in range(given.seeds if workers > 1 else 1)]
            for policy in POLICIES for workers in map(int, given.workers.split(','))}


def interval(figures):
    """Median, and the narrowest pair of order statistics that holds it with 15/16 or more (cli/interval.hpp); None, None: too few."""
    figures = sorted(figures)
    low = outside = 0
    ways = 1  # of choosing `low` of them
    total = 2 ** len(figures)
    while low < len(figures) // 2 and 2 * (outside + ways) <= total / 16:
        outside += ways
        low += 1
        ways = ways * (len(figures) - low + 1) // low
    middle = statistics.median(figures)
    return (middle, None, None) if low == 0 else (middle, figures[low - 1], figures[-low])


def ratios(of, workers):
    return [b / a for a, b in zip(of[f'adws {workers}'], of[f'random_ws {workers}'])]


def side(figures):
    middle, low, high = interval(figures)
    if low is None:
        return 'unknown'
    return 'adws' if low > 1 else 'random_ws' if high < 1 else 'unknown'


def shown(seconds):
    """Milliseconds, but for what an operation takes."""
    return f'{seconds * 1e3:.3g}' if seconds >= 1e-6 else f'{seconds * 1e9:.3g} ns'


def told(figures):
    middle, low, high = interval(figures)
    return f'{middle:.3f}' if low is None else f'{middle:.3f} ({low:.3f} to {high:.3f})'


def table(all_of, fits):
    both = {name: of for name in PROGRAMS if 'measured' in (of := all_of.get(name, {})) and 'predicted' in of}
    workers = sorted({int(k.split()[1]) for of in both.values() for k in set(of['measured']) & set(of['predicted'])})
    if not workers:
        sys.exit('nothing is both measured and predicted')
    most = workers[-1]
    columns = ['program', 'a told cycle', *[c for n in workers for c in (f'measured, {n}, ms', 'predicted', 'error')],
               f'random_ws over adws, {most}, measured', 'predicted', 'sign']
    print('| ' + ' | '.join(columns) + ' |')
    print('|' + ' --- |' * len(columns))
    errors, wrong, decided = {n: [] for n in workers}, 0, 0
    for name, of in both.items():
        cells = [f'{name} {of["size"].split()[-1]}', f'{fits[name]["cycles"]:.2f}' if of.get('cycles', 1) != 1 else '1']
        for n in workers:
            if f'random_ws {n}' not in of['measured']:
                cells += ['-'] * 3
                continue
            real = statistics.median(of['measured'][f'random_ws {n}'])
            model = statistics.median(of['predicted'][f'random_ws {n}'])
            errors[n].append((abs(model / real - 1), name))
            cells += [shown(real), shown(model), f'{100 * (model / real - 1):+.0f} %']
        real, model = ratios(of['measured'], most), ratios(of['predicted'], most)
        sign = 'not decided'
        if side(real) != 'unknown':
            decided += 1
            sign = 'right' if side(real) == side(model) else f'{side(real)} is faster, predicted: {side(model)}'
            wrong += side(real) != side(model)
        print('| ' + ' | '.join([*cells, told(real), told(model), sign]) + ' |')
    for n, of in errors.items():
        worst = max(of)
        print(f'\n{n} worker{"s" if n > 1 else ""}: mean error {100 * statistics.mean(e for e, _ in of):.1f} %, worst '
              f'{100 * worst[0]:.0f} % ({worst[1]}), {sum(error <= 0.1 for error, _ in of)} of {len(of)} within 10 %.')
    print(f'\nSign of adws against random_ws with {most} workers: {decided} of {len(both)} differ by more than their noise, {wrong} of them are '
          'predicted otherwise.')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('action', choices=('measure', 'fit', 'predict', 'table'))
    parser.add_argument('files', nargs='+')
    parser.add_argument('--programs', default=','.join(PROGRAMS))
    parser.add_argument('--sizes', choices=('held-out', 'fitted'), default='held-out')
    parser.add_argument('--workers', default='1,2')
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--before', default='')
    parser.add_argument('--machine')
    parser.add_argument('--as-told', action='store_true')
    given = parser.parse_args()
    simulates = given.action in ('fit', 'predict')
    if len(given.files) != (1 if given.action == 'table' else 2) or simulates != (given.machine is not None):
        sys.exit(__doc__.strip())
    given.heddle, out = given.files[0], given.files[-1]
    known = {}
    if os.path.exists(out):
        with open(out, encoding='utf-8') as f:
            known = json.load(f)

    def entry_of(sizes, name):
        size = PROGRAMS[name][sizes == 'fitted']
        entry = known.setdefault(sizes, {}).setdefault(name, {})
        if entry.get('size') != size:
            entry.clear()
            entry['size'] = size
        return entry

    fits = known.get('fitted', {})
    if given.action == 'table':
        return table(known.get(given.sizes, {}), fits)
    for name in given.programs.split(','):
        entry = entry_of('fitted' if given.action == 'fit' else given.sizes, name)
        if given.action == 'measure':
            held_out, for_fitting = measured(given, name)
            entry_of('held-out', name)['measured'], entry_of('fitted', name)['measured'] = held_out, for_fitting
            figures = {**held_out, **{f'{key}, for fitting': figures for key, figures in for_fitting.items()}}
        elif given.action == 'fit':
            entry['cycles'], at = fitted(given, name, entry['size'], statistics.median(entry['measured']['random_ws 1']))
            figures = {f'measured {entry["cycles"]:.3f}': entry['measured']['random_ws 1'], 'fitted': [at]}
        else:
            entry['cycles'] = 1 if given.as_told else fits[name]['cycles']
            entry['predicted'] = predicted(given, name, entry['size'], entry['cycles'])
            figures = entry['predicted']
        with open(out + '.new', 'w', encoding='utf-8') as f:
            json.dump(known, f, indent=1)
        os.replace(out + '.new', out)
        print(name, {k: shown(statistics.median(v)) for k, v in figures.items()}, flush=True)
    return None


if __name__ == '__main__':
    main()
