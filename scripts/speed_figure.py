#!/usr/bin/env python3
"""The picture of docs/guide/benchmarks.md: the times that heddle and its rivals take for the same forms, as bars. Needs matplotlib (python3-matplotlib).

usage: speed_figure.py RESULTS.json OUT.svg      RESULTS.json as `heddle bench --json` writes it
"""
import json
import sys

import matplotlib

matplotlib.use('svg')
import matplotlib.pyplot as plt  # noqa: E402

# Kernel, metric, title. One panel each; its unit comes from the file.
PANELS = [('spawn', 'tree', 'child of a task group, in a tree'),
          ('skynet', 'group', 'skynet, 10^6 children of groups'),
          ('skynet', 'halves', 'skynet, 10^6 leaves by halves'),
          ('spawn', 'flat', '256 children of one group, each')]
RUNTIMES = [('heddle', 'heddle'), ('tbb', 'TBB'), ('rayon', 'Rayon'), ('libgomp', 'libgomp'), ('libomp', 'libomp')]
COLOURS = {1: '#9db7d5', 2: '#2a5d9c'}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[1], encoding='utf-8') as f:
        results = json.load(f)
    rows = {(r['kernel'], r['metric'], r['runtime'], r['workers']): r for r in results['rows']}
    plt.rcParams.update({'font.family': 'sans-serif', 'font.size': 9, 'svg.fonttype': 'none', 'svg.hashsalt': 'heddle'})
    figure, axes = plt.subplots(1, len(PANELS), figsize=(12, 2.6), layout='constrained')
    for axis, (kernel, metric, title) in zip(axes, PANELS):
        names, unit = [], ''
        for runtime, name in RUNTIMES:
            found = {w: rows.get((kernel, metric, runtime, w)) for w in (1, 2)}
            if not all(found.values()):
                continue
            unit = found[1]['unit']
            for workers, row in found.items():
                at = len(names) + (workers - 1.5) * 0.38
                axis.barh(at, row['median'], height=0.36, color=COLOURS[workers],
                          label={1: 'one worker', 2: 'two workers'}[workers] if not names else None)
                axis.text(row['median'] * 1.08, at, f'{row["median"]:.3g}', va='center', fontsize=7.5)
            names.append(name)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_xscale('log')
        axis.set_xlim(1, axis.get_xlim()[1] * 3)
        axis.set_title(f'{title} ({unit})', fontsize=9)
        axis.spines[['top', 'right']].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc='lower right', ncols=2, frameon=False, fontsize=8, borderaxespad=0)
    machine = results['header']['machine']
    figure.supxlabel(f'Medians; shorter is better; logarithmic. {machine["processor"]}, {machine["processors"]} processors'
                     f'{", virtual" if machine["virtual"] else ""}, {results["header"]["date"][:10]}', fontsize=8, x=0.01, ha='left')
    figure.savefig(sys.argv[2], metadata={'Date': None})


if __name__ == '__main__':
    main()
