"""The EPCC OpenMP micro-benchmarks 3.1. Measured by scripts/openmp-constructs.py; here only whether they end."""
import glob
import os
import re

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
        for program in PROGRAMS:  # some releases leave them beside their sources
            if os.path.exists(os.path.join(folder, program)):
                os.replace(os.path.join(folder, program), os.path.join(folder, 'bin', program))
    return folder


def overheads(output):
    return {name.strip(): float(value) for name, value in re.findall(r'(?m)^(.*) overhead = (-?[\d.]+) microseconds', output)}


def run(options, runtime):
    """Whether every program comes to its end."""
    folder = build(options, runtime)
    jobs = {p: ([os.path.join(folder, 'bin', p), '--outer-repetitions', '3', '--test-time', '100'], folder)
            for p in PROGRAMS if os.path.exists(os.path.join(folder, 'bin', p))}
    return common.run_all(jobs, options, runtime, lambda ended: 'pass' if overheads(ended.output) else 'no result')

