#!/usr/bin/env python3
"""The picture of docs/guide/openmp_nested.md from measured data. Needs matplotlib (python3-matplotlib).

usage: openmp_figures.py NESTED.json OUT.svg

NESTED.json as `openmp-applications.py --measure --match nested --runtime heddle,libgomp,libomp --json` writes it.
"""
import json
import sys

import matplotlib

matplotlib.use('svg')
import matplotlib.pyplot as plt  # noqa: E402

RUNTIMES = (('libgomp', 'libgomp', '#c9a227'), ('libomp', 'libomp', '#b5525c'), ('heddle', 'heddle', '#2a5d9c'))
COUNTS = (1, 2, 4, 8)


def said(machine):
    return f'{machine["processor"]}, {machine["processors"]} processors, {machine["date"]}'


def finished(figure, machine, text, name):
    figure.supxlabel(f'{text} {said(machine)}', fontsize=8, x=0.01, ha='left')
    figure.savefig(name, metadata={'Date': None})
    plt.close(figure)


def plain(axis):
    axis.spines[['top', 'right']].set_visible(False)


def loops(data, name):
    """A panel for each size of the outer region, a line for each runtime."""
    figure, axes = plt.subplots(1, len(COUNTS), figsize=(12, 3), sharey=True, layout='constrained')
    found = data['found']
    for axis, outer in zip(axes, COUNTS):
        for runtime, label, colour in RUNTIMES:
            rows = [(i, found.get(f'nested {outer}x{i}', {}).get(runtime, {})) for i in COUNTS]
            points = [(i, row['median'] * 1e3) for i, row in rows if 'median' in row]
            axis.plot([i for i, _ in points], [t for _, t in points], 'o-', color=colour, label=label, markersize=4)
        axis.set_xscale('log', base=2)
        axis.set_yscale('log')
        axis.set_xticks(COUNTS, [str(i) for i in COUNTS])
        axis.set_title(f'{outer} outer thread{"s" if outer > 1 else ""}', fontsize=9)
        axis.set_xlabel('threads of each inner loop', fontsize=8)
        axis.grid(axis='y', which='major', alpha=0.3)
        plain(axis)
    axes[0].set_ylabel('ms', fontsize=8)
    axes[0].legend(frameon=False, fontsize=8)
    finished(figure, data['machine'], 'The same work in all shapes. Medians; less is better; logarithmic.', name)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    plt.rcParams.update({'font.family': 'sans-serif', 'font.size': 9, 'svg.fonttype': 'none', 'svg.hashsalt': 'heddle'})
    with open(sys.argv[1], encoding='utf-8') as f:
        loops(json.load(f), sys.argv[2])


if __name__ == '__main__':
    main()
