#!/usr/bin/env python3
"""The picture of docs/reproduction.md: a line for each figure of the papers, a dot for each measure. Needs matplotlib (python3-matplotlib).

usage: reproduction_figure.py OUT.svg ROWS.json...      ROWS.json as `heddle paper run --json` or --into writes it

On the left measures with a direction: how far the simulated figure lies on the paper's side of what divides the two (1: on it), with its
interval. On the right sizes that have none: simulated over the paper's.
"""
import json
import re
import sys

import matplotlib

matplotlib.use('svg')
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {'same size': '#2a5d9c', 'same direction': '#7fa8d1', 'undecided': '#b8b8b8', 'not': '#c0392b', 'input': '#c9a227'}
FURTHEST = 10  # times; beyond it a dot stands at the edge


def place(row, figure):
    """Where a figure of that row stands: (panel, factor), or nothing."""
    if figure is None:
        return None
    if row['says'] in ('above', 'below'):
        if figure <= 0 or row['pivot'] <= 0:
            return None
        ratio = figure / row['pivot']
        return 0, ratio if row['says'] == 'above' else 1 / ratio
    return (1, figure / row['paper']) if figure > 0 and isinstance(row['paper'], (int, float)) and row['paper'] > 0 else None


def clipped(factor):
    return min(max(factor, 1 / FURTHEST), FURTHEST)


def order(name):
    """adws-4.17 after adws-4.2, appendices last."""
    return [(0, int(part), '') if part.isdigit() else (1, 0, part) for part in re.split(r'[-.]', name)]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    rows = []
    for file in sys.argv[2:]:
        with open(file, encoding='utf-8') as f:
            rows += json.load(f)
    names = sorted({row['id'] for row in rows}, key=order)
    plt.rcParams.update({'font.family': 'sans-serif', 'font.size': 8, 'svg.fonttype': 'none', 'svg.hashsalt': 'heddle'})
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.2 + 0.21 * len(names)), sharey=True, width_ratios=(3, 1), layout='constrained')
    for at, name in enumerate(names):
        mine = [row for row in rows if row['id'] == name and place(row, row['simulated'])]
        for i, row in enumerate(mine):
            y = at + (i + 0.5) / len(mine) * 0.7 - 0.35
            panel, factor = place(row, row['simulated'])
            ends = [place(row, row.get('simulated' + end)) for end in ('_low', '_high')]
            colour = COLOURS[row['verdict']]
            if all(ends):
                axes[panel].plot([clipped(end[1]) for end in ends], [y, y], color=colour, linewidth=1, zorder=1)
            axes[panel].plot(clipped(factor), y, 'o', color=colour, markersize=3.2, zorder=2)
    for axis in axes:
        axis.set_xscale('log')
        axis.set_xlim(1 / FURTHEST / 1.1, FURTHEST * 1.1)
        axis.set_xticks([0.1, 0.25, 0.5, 1, 2, 4, 10], ['0.1', '0.25', '0.5', '1', '2', '4', '10'])
        axis.minorticks_off()
        axis.axvline(1, color='black', linewidth=0.7, zorder=0)
        axis.spines[['top', 'right']].set_visible(False)
        axis.set_ylim(len(names) - 0.4, -0.6)
        axis.grid(axis='y', linewidth=0.3)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_xlabel("times on the paper's side")
    axes[1].set_xlabel("sizes: over the paper's")
    count = {verdict: sum(row['verdict'] == verdict for row in rows) for verdict in [*COLOURS, 'not run']}
    for verdict, colour in COLOURS.items():
        axes[0].plot([], [], 'o', color=colour, markersize=4, label=f'{verdict}: {count[verdict]}')
    axes[0].legend(loc='lower left', bbox_to_anchor=(0, 1), ncols=len(COLOURS), frameon=False, handletextpad=0.2, columnspacing=1.2)
    shown = sum(place(row, row['simulated']) is not None for row in rows)
    scales = sorted({row['scale'].split(':')[0] for row in rows if row['simulated'] is not None})
    figure.supxlabel(f'Medians of simulated runs with their intervals, logarithmic. {shown} of {len(rows)} measures; {count["not run"]} were not '
                     f'run. Scale {", ".join(scales)}, {max(row["date"] for row in rows)}', fontsize=8, x=0.01, ha='left')
    figure.savefig(sys.argv[1], metadata={'Date': None})


if __name__ == '__main__':
    main()
