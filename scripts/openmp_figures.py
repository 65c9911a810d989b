#!/usr/bin/env python3
"""The pictures of docs/guide/openmp_nested.md from measured data. Needs matplotlib (python3-matplotlib).

usage: openmp_figures.py APPLICATIONS.json PYTHON.json FOLDER

APPLICATIONS.json as `openmp-applications.py --measure --json` writes it, PYTHON.json as `openmp-python.py --measure --json`.
"""
import json
import os
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


def blas(data, name):
    """OpenBLAS in regions that are larger than the machine: time and processor time."""
    cases = (('2x1', 'a loop of 2'), ('4x1', 'a loop of 4'), ('8x1', 'a loop of 8'), ('4x1 tasks', 'tasks of 4'), ('8x1 tasks', 'tasks of 8'))
    figure, axes = plt.subplots(1, 2, figsize=(10, 2.8), sharey=True, layout='constrained')
    for axis, (key, title) in zip(axes, (('median', 'time, ms'), ('processor', 'processor time of the whole program, ms'))):
        for place, (case, _) in enumerate(cases):
            row = data['found'].get(f'openblas all {case}', {})
            for at, (runtime, label, colour) in enumerate(RUNTIMES):
                if key in row.get(runtime, {}):
                    value = row[runtime][key] * 1e3
                    axis.barh(place + (at - 1) * 0.26, value, height=0.24, color=colour, label=label if place == 0 else None)
                    axis.text(value, place + (at - 1) * 0.26, f' {value:.0f}', va='center', fontsize=7)
        axis.set_yticks(range(len(cases)), [title for _, title in cases], fontsize=8)
        axis.set_title(title, fontsize=9)
        plain(axis)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc='lower right', ncols=3, frameon=False, fontsize=8, borderaxespad=0)
    finished(figure, data['machine'], 'Eight problems of five routines. Medians; shorter is better.', name)


def python(data, name):
    """How many times as fast as on their own runtimes."""
    rows = [r for r in data['found'] if 'median' in r['own'] and 'median' in r['heddle']]
    figure, axis = plt.subplots(figsize=(9, 0.2 * len(rows) + 1), layout='constrained')
    for place, row in enumerate(rows):
        outer, threads = (int(n) for n in row['program'].rpartition(' ')[2].split('x'))
        colour = '#8d99a6' if outer == 1 and threads <= data['machine']['processors'] else '#2a5d9c'
        gain = row['own']['median'] / row['heddle']['median']
        axis.barh(place, gain, height=0.7, color=colour)
        axis.text(gain, place, f' {gain:.2f}   ({row["own"]["median"]:.3g} s, {row["heddle"]["median"]:.3g} s)', va='center', fontsize=7)
    axis.axvline(1, color='black', linewidth=0.8)
    axis.set_yticks(range(len(rows)), [f'{r["package"]}: {r["program"].replace("_", " ")}' for r in rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale('log')
    axis.set_xlim(0.5, axis.get_xlim()[1] * 3)
    axis.set_title('time on their own runtimes over time on heddle (both in brackets); grey: as many threads as processors', fontsize=9)
    plain(axis)
    finished(figure, data['machine'], 'Medians; longer is better; logarithmic.', name)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    plt.rcParams.update({'font.family': 'sans-serif', 'font.size': 9, 'svg.fonttype': 'none', 'svg.hashsalt': 'heddle'})
    with open(sys.argv[1], encoding='utf-8') as f:
        applications = json.load(f)
    with open(sys.argv[2], encoding='utf-8') as f:
        packages = json.load(f)
    folder = sys.argv[3]
    loops(applications, os.path.join(folder, 'openmp_nested_loops.svg'))
    blas(applications, os.path.join(folder, 'openmp_nested_blas.svg'))
    python(packages, os.path.join(folder, 'openmp_nested_python.svg'))


if __name__ == '__main__':
    main()
