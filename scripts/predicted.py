#!/usr/bin/env python3
"""What the simulator predicts for this machine, against what it measures: 19 programs at sizes at which no cost of theirs was fitted.

usage: predicted.py measure HEDDLE OUT.json [--programs a,b] [--sizes fitted] [--rounds 9] [--before 'COMMAND']
       predicted.py predict HEDDLE OUT.json --machine FILE [--programs a,b] [--sizes fitted] [--seeds 5]
       predicted.py table OUT.json [--sizes fitted]

measure: `heddle bench` under adws and random_ws with one worker and two, 3 samples a process, the two policies by turns; a round's figure is
the median of its samples. --before: a command before each, such as one that keeps others off the processors. predict: the same in the
simulator on FILE, which `heddle calibrate -o FILE` makes; a pair of seeds for each of --seeds. OUT.json keeps all figures, by program and size;
what is there already of that kind is replaced. table: Markdown.

--sizes fitted: the sizes at which cycles may be fitted, the benchmarks' own; without it the held-out ones.
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
WORKERS = (1, 2)
SAMPLES = 3
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


def measured(heddle, name, size, rounds, before):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'rows.json')
        run([*before, heddle, 'bench', name, *size.split(), '--policy', ','.join(POLICIES), '--workers', ','.join(map(str, WORKERS)), '--rivals', 'none',
             '--repeat', str(rounds), '--samples', str(SAMPLES), '--json', file])
        return {f'{policy} {workers}': [statistics.median(samples[i:i + SAMPLES]) for i in range(0, len(samples), SAMPLES)]
                for (policy, workers), samples in rows_of(file).items()}


def predicted(heddle, name, size, machine, seeds):
    found = {}
    for policy in POLICIES:
        for workers in WORKERS:
            for seed in range(seeds if workers > 1 else 1):
                with tempfile.TemporaryDirectory() as folder:
                    file = os.path.join(folder, 'rows.json')
                    run([heddle, 'sim', '--machine', machine, '--policy', policy, '--workers', str(workers), '--no-serial', '--fast', '--seed', str(42 + seed), '--',
                         heddle, 'bench', name, *size.split(), '--repeat', '1', '--samples', str(SAMPLES), '--json', file])
                    found.setdefault(f'{policy} {workers}', []).append(statistics.median(next(iter(rows_of(file).values()))))
    return found


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


def ratios(of):
    return [b / a for a, b in zip(of['adws 2'], of['random_ws 2'])]


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


def table(all_of):
    print('| program | measured 1, ms | predicted 1 | error | measured 2, ms | predicted 2 | error | random_ws over adws, measured | predicted | sign |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
    errors, wrong, decided = {1: [], 2: []}, 0, 0
    for name in PROGRAMS:
        of = all_of.get(name, {})
        if 'measured' not in of or 'predicted' not in of:
            continue
        cells = [f'{name} {of["size"].split()[-1]}']
        for workers in WORKERS:
            real = statistics.median(of['measured'][f'random_ws {workers}'])
            model = statistics.median(of['predicted'][f'random_ws {workers}'])
            errors[workers].append((abs(model / real - 1), name))
            cells += [shown(real), shown(model), f'{100 * (model / real - 1):+.0f} %']
        real, model = side(ratios(of['measured'])), side(ratios(of['predicted']))
        sign = 'not decided'
        if real != 'unknown':
            decided += 1
            sign = 'right' if real == model else f'{real} is faster, predicted: {model}'
            wrong += real != model
        cells += [told(ratios(of['measured'])), told(ratios(of['predicted'])), sign]
        print('| ' + ' | '.join(cells) + ' |')
    for workers, all_errors in errors.items():
        if not all_errors:
            continue
        worst = max(all_errors)
        near = sum(error <= 0.1 for error, _ in all_errors)
        print(f'\n{workers} worker{"s" if workers > 1 else ""}: mean error {100 * statistics.mean(e for e, _ in all_errors):.1f} %, worst '
              f'{100 * worst[0]:.0f} % ({worst[1]}), {near} of {len(all_errors)} within 10 %.')
    print(f'\nSign of adws against random_ws with two workers: {decided} of {len(errors[2])} differ by more than their noise, {wrong} of them are predicted '
          'otherwise.')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('action', choices=('measure', 'predict', 'table'))
    parser.add_argument('files', nargs='+')
    parser.add_argument('--programs', default=','.join(PROGRAMS))
    parser.add_argument('--sizes', choices=('held-out', 'fitted'), default='held-out')
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--before', default='')
    parser.add_argument('--machine')
    given = parser.parse_args()
    if len(given.files) != (1 if given.action == 'table' else 2) or (given.action == 'predict') != (given.machine is not None):
        sys.exit(__doc__.strip())
    out = given.files[-1]
    known = {}
    if os.path.exists(out):
        with open(out, encoding='utf-8') as f:
            known = json.load(f)
    of_size = known.setdefault(given.sizes, {})
    if given.action == 'table':
        return table(of_size)
    for name in given.programs.split(','):
        size = PROGRAMS[name][given.sizes == 'fitted']
        entry = of_size.setdefault(name, {})
        if entry.get('size') != size:
            entry.clear()
            entry['size'] = size
        if given.action == 'measure':
            entry['measured'] = measured(given.files[0], name, size, given.rounds, shlex.split(given.before))
        else:
            entry['predicted'] = predicted(given.files[0], name, size, given.machine, given.seeds)
        with open(out + '.new', 'w', encoding='utf-8') as f:
            json.dump(known, f, indent=1)
        os.replace(out + '.new', out)
        print(name, {k: shown(statistics.median(v)) for k, v in entry[{'measure': 'measured', 'predict': 'predicted'}[given.action]].items()}, flush=True)
    return None


if __name__ == '__main__':
    main()
