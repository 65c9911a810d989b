"""The Barcelona OpenMP Tasks Suite (bsc-pm/bots): small inputs, checked by the programs themselves."""
import os
import re

from . import common

NAME = 'bots'
ARGUMENTS = {
    'alignment': ['-f', 'inputs/alignment/prot.20.aa'],
    'fft': ['-n', '65536'],
    'fib': ['-n', '22'],
    'floorplan': ['-f', 'inputs/floorplan/input.5'],
    'health': ['-f', 'inputs/health/test.input'],
    'knapsack': ['-f', 'inputs/knapsack/knapsack-012.input'],
    'nqueens': ['-n', '9'],
    'sort': ['-n', '1000000', '-a', '2048', '-y', '2048'],
    'sparselu': ['-n', '12', '-m', '12'],
    'strassen': ['-n', '512', '-y', '64'],
    'uts': ['-f', 'inputs/uts/test.input'],
}


def build(options, runtime):
    folder = common.copy_of(options, NAME, runtime.kind)
    if os.path.isdir(os.path.join(folder, 'bin')) and os.listdir(os.path.join(folder, 'bin')):
        return folder
    os.makedirs(os.path.join(folder, 'bin'), exist_ok=True)
    cc = runtime.compiler
    with open(os.path.join(folder, 'config', 'make.config'), 'w', encoding='utf-8') as f:
        f.write(f'LABEL={runtime.kind}\nOMPC={cc} -fopenmp\nCC={cc}\nOMPLINK={cc} -fopenmp\nCLINK={cc}\nOPT_FLAGS=-O2\n'
                'CC_FLAGS=-w\nOMPC_FLAGS=-w\nOMPC_FINAL_FLAGS=\nCLINK_FLAGS=\nOMPLINK_FLAGS=\n')
    for part in ['common'] + [f'omp-tasks/{a}' for a in sorted(os.listdir(os.path.join(folder, 'omp-tasks')))]:
        for makefile, where, _ in os.walk(os.path.join(folder, part)):
            where.sort()
            if os.path.exists(os.path.join(makefile, 'Makefile')):
                common.shell(['make', '-k'], makefile)  # one at a time: versions of a program share their objects
    return folder


def verdict(ended):
    said = re.search(r'Verification\s*=\s*(.*)', ended.output)
    text = said.group(1).strip() if said else 'no result'
    return 'pass' if text.lower() in ('successful', 'not applicable', 'n/a', 'not available') else text


def run(options, runtime):
    folder = build(options, runtime)
    jobs = {}
    for program in sorted(os.listdir(os.path.join(folder, 'bin'))):
        application = program.split('.')[0]
        if 'omp-tasks' in program and application in ARGUMENTS:
            # -c: check; -o 1: tell all
            jobs[program.replace(f'.{runtime.kind}.', '.')] = (
                [os.path.join(folder, 'bin', program), '-c', '-o', '1', *ARGUMENTS[application]], folder)
    return common.run_all(jobs, options, runtime, verdict)
