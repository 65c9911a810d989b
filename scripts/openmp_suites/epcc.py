"""The EPCC OpenMP micro-benchmarks 3.1: overheads of constructs in microseconds, of several runtimes in turn."""
import glob
import os
import re
import statistics

import limited_run

from . import common

NAME = 'epcc'
PROGRAMS = ['syncbench', 'schedbench', 'taskbench', 'arraybench_1', 'arraybench_729', 'arraybench_59049']


def build(options, runtime):
    folder = common.copy_of(options, NAME, runtime.kind)
    with open(os.path.join(folder, 'Makefile.defs'), 'w', encoding='utf-8') as f:
        f.write(f'OMPFLAG = -DOMPVER2 -DOMPVER3\nCC={runtime.compiler}\nCFLAGS = -fopenmp -O1 -w\n'
                'LDFLAGS = -fopenmp -O1\nCPP = cpp\nLIBS = -lm\n')
    os.makedirs(os.path.join(folder, 'bin'), exist_ok=True)
    if not glob.glob(os.path.join(folder, 'bin', 'syncbench')):
        for target in ['syncbench', 'schedbench', 'taskbench']:
            common.shell(['make', target], folder)
        for size in [p.split('_')[1] for p in PROGRAMS if '_' in p]:
            common.shell(['make', f'IDA={size}', 'prog'], folder)
    return folder


def overheads(output):
    return {name.strip(): float(value) for name, value in re.findall(r'(?m)^(.*) overhead = (-?[\d.]+) microseconds', output)}


def run(options, runtime):
    """Whether every program comes to its end."""
    folder = build(options, runtime)
    jobs = {p: ([os.path.join(folder, 'bin', p), '--outer-repetitions', '3', '--test-time', '100'], folder)
            for p in PROGRAMS if os.path.exists(os.path.join(folder, 'bin', p))}
    return common.run_all(jobs, options, runtime, lambda ended: 'pass' if overheads(ended.output) else 'no result')


def measure(options, runtimes):
    """{construct: {runtime: median of the rounds}}; the runtimes take turns, so that other load meets all of them."""
    values = {}
    for _ in range(options.rounds):
        for program in PROGRAMS:
            for runtime in runtimes:
                folder = build(options, runtime)
                file = os.path.join(folder, 'bin', program)
                if not os.path.exists(file) or options.match not in program:
                    continue
                words = [file, '--outer-repetitions', '10', '--test-time', '500']
                ended = limited_run.run(words, options.limit, common.environment_for(runtime, options), folder, stacks=False)
                for construct, value in overheads(ended.output).items():
                    name = f'{program}: {construct}'
                    values.setdefault(name, {}).setdefault(runtime.name, []).append(value)
    return {name: {r: statistics.median(v) for r, v in of.items()} for name, of in values.items()}


def table(measured, runtimes):
    names = [r.name for r in runtimes]
    lines = ['| construct, overhead in us | ' + ' | '.join(names) + ' |', '| --- |' + ' ---: |' * len(names)]
    for construct, of in measured.items():
        lines.append(f'| {construct} | ' + ' | '.join(f'{of[n]:.2f}' if n in of else '-' for n in names) + ' |')
    return '\n'.join(lines)
