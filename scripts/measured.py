#!/usr/bin/env python3
"""docs/measured.md from what `heddle bench --json` has written: every row beside its rivals of the same run.

usage: measured.py RESULTS.json [...] --output docs/measured.md
"""
import argparse
import json
import statistics

RIVALS = [('tbb', 'TBB'), ('rayon', 'Rayon'), ('libgomp', 'libgomp'), ('libomp', 'libomp'), ('boost_fiber', 'Boost.Fiber')]
# Kernels in the page's order, by topic.
TOPICS = [
    ('Forks and trees', ['fib', 'spawn', 'join', 'skynet', 'nqueens', 'uts', 'wavefront']),
    ('Threads and waiting', ['thread', 'channel', 'rendezvous', 'wide', 'nested']),
    ('Loops', ['loop']),
    ('Arrays and applications', ['matmul', 'lu', 'fft', 'quicksort', 'mergesort', 'heat2d', 'heat', 'sor', 'ge', 'stencil9',
                                 'stencil6', 'stencil25', 'cells', 'sweep', 'spmv', 'convolve', 'isosurface', 'cholesky',
                                 'checkers', 'mandelbrot', 'ga', 'knapsack', 'decision_tree']),
    ('At rest, and memory', ['idle', 'memory'])]
# What a metric of a kernel is; others are named as in the results. bench/README.md says what each one does.
TEXTS = {('fib', 'ns_per_spawn'): 'fib, a fork', ('spawn', 'tree'): 'child of a group that may block, in a tree',
         ('spawn', 'flat'): '256 children of one group, each', ('thread', 'create_1'): 'thread create and join, one at a time',
         ('thread', 'create_256'): 'the same, 256 at a time', ('thread', 'yield_2'): 'yield, 2 threads',
         ('thread', 'yield_1000'): 'yield, 1,000 threads', ('wavefront', 'counters'): 'wavefront by counters, a task',
         ('wavefront', 'graph'): 'wavefront by a graph or `depend`, a task',
         ('loop', 'triangle=300'): 'triangular loop of 300', ('loop', 'triangle=3000'): 'triangular loop of 3,000',
         ('loop', 'spike'): 'loop with its work at the end', ('loop', 'last'): 'loop with a huge last iteration'}
# Rows of one schedule each. The row without a name is heddle's default beside the best schedule of each rival.
SCHEDULES = ('adaptive', 'affinity', 'fixed', 'dynamic', 'guided')
NEAR = 1.05


def figure(value):
    size = abs(value)
    return f'{value:,.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3}f}'


def paired_ratio(ours, theirs):
    """Median of the rounds' ratios: what disturbs a round disturbs both of its runs."""
    return statistics.median(a / b if b > 0 else 1 for a, b in zip(ours, theirs))


def text_of(kernel, metric):
    if (kernel, metric) in TEXTS:
        return TEXTS[kernel, metric]
    base, _, place = metric.partition(' from main')
    if place == '' and metric.endswith(' from main'):
        return text_of(kernel, base) + ', from main'
    if kernel == 'loop' and metric.startswith('n='):
        return f'loop of {int(metric[2:]):,}'
    return kernel if metric == 'time' else f'{kernel}, {metric}'


def table_of(kernels, rows):
    names = [(key, name) for key, name in RIVALS if any(key in r for (k, _, _, _), r in rows.items() if k in kernels)]
    lines = ['| measure | unit | workers | heddle (least to most) | ' + ' | '.join(n for _, n in names) + ' | over the best |',
             '| --- | --- | --- | --- | ' + '--- | ' * len(names) + '--- |']
    behind, ahead, near = [], 0, 0
    for (kernel, metric, n, workers), found in rows.items():
        if kernel not in kernels or 'heddle' not in found or metric.rpartition(', ')[2] in SCHEDULES:
            continue
        ours = found['heddle']
        rivals = {key: found[key]['median'] for key, _ in RIVALS if key in found and found[key]['checked']}
        cells = [figure(rivals[key]) if key in rivals else '-' for key, _ in names]
        over = ''
        if rivals:
            best = min(rivals, key=rivals.get)
            ratio = paired_ratio(ours['samples'], found[best]['samples'])
            over = f'{ratio:.2f}'
            if ratio > NEAR:
                over = f'**{over}**'
                behind.append((text_of(kernel, metric), workers, ratio, dict(RIVALS)[best]))
            elif ratio < 1 / NEAR:
                ahead += 1
            else:
                near += 1
        lines.append(f'| {text_of(kernel, metric)} | {ours["unit"]} | {workers} | {figure(ours["median"])} '
                     f'({figure(ours["min"])} to {figure(ours["max"])}) | ' + ''.join(f'{c} | ' for c in cells) + f'{over} |')
    return lines, behind, ahead, near


def compilers_of(runtimes):
    ours = runtimes['heddle']['compiler']
    others = [f'{name}: {runtimes[key]["compiler"].split(" (")[0]}' for key, name in RIVALS
              if key in runtimes and runtimes[key]['compiler'] != ours]
    return (f'- The compiler is {ours} ({"; ".join(others)}).\n'
            '  A rival that another compiler has compiled may be faster because of that compiler, as with one\n'
            '  worker in mergesort and fft.')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('results', nargs='+')
    p.add_argument('--output', required=True)
    options = p.parse_args()
    rows, headers, wrong = {}, [], []
    for path in options.results:
        with open(path, encoding='utf-8') as f:
            results = json.load(f)
        headers.append(results['header'])
        for r in results['rows']:
            if not r['checked']:
                wrong.append(f'{r["kernel"]} {r["metric"]} of {r["runtime"]}')
            if r['policy'] == '':
                rows.setdefault((r['kernel'], r['metric'], r['n'], r['workers']), {})[r['runtime']] = r
    machine = headers[0]['machine']
    repeats = sorted({len(r['samples']) for found in rows.values() for r in found.values()})
    body, behind, ahead, near = [], [], 0, 0
    for title, kernels in TOPICS:
        if not any(k in kernels for k, _, _, _ in rows):
            continue
        lines, b, a, n = table_of(kernels, rows)
        behind, ahead, near = behind + b, ahead + a, near + n
        body += ['', f'## {title}', *lines]
    page = ['# What was measured', '',
            'These figures come from the results of `heddle bench ... --rivals all --json`. A script made this',
            'page, and no figure was typed by hand:',
            f'`scripts/measured.py {" ".join(options.results)} --output {options.output}`.', '',
            f'- All figures are real: {machine["processors"]} processors of {machine["processor"]}, {headers[0]["kernel"]}.',
            f'- The runtimes ran alternately. The figures are medians of {", ".join(map(str, repeats))} rounds.',
            '  Brackets hold heddle\'s least and greatest figure.',
            '- Every result was compared with the serial program\'s' + (f'; **wrong: {", ".join(sorted(set(wrong)))}**.' if wrong else '. All are equal.'),
            '- *Over the best* is heddle\'s time over the time of the rival whose median is least. The ratio is',
            '  taken round by round, and the median of the ratios is shown. It is bold if heddle is more than 5 %',
            '  slower.',
            compilers_of(headers[0]['runtimes']), '',
            '[bench/README.md](../bench/README.md) describes each measure. Some runtimes come in no package. They',
            'were measured with programs written elsewhere:',
            '[core.md](investigations/core.md#runtimes-that-come-in-no-package).', '',
            f'In {ahead + near + len(behind)} rows there is a rival. heddle is more than 5 % faster in {ahead}, within 5 % in {near}, and',
            f'slower in {len(behind)}' + (':' if behind else '.')]
    if behind:
        page += ['', '| slower | workers | over the best | best |', '| --- | --- | --- | --- |']
        page += [f'| {text} | {workers} | {ratio:.2f} | {best} |' for text, workers, ratio, best in
                 sorted(behind, key=lambda b: -b[2])]
    with open(options.output, 'w', encoding='utf-8') as f:
        f.write('\n'.join(page + body) + '\n')


if __name__ == '__main__':
    main()
