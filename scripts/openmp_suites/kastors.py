"""KASTORS (UFRGS-PPGC/kastors-benchmark): tasks with dependences, each checked against its serial form."""
import os

from . import common

NAME = 'kastors'
JACOBI = ['src/poisson-task.c', 'src/jacobi-seq.c']
PROGRAMS = {
    'jacobi_task': ('jacobi', JACOBI + ['src/jacobi-task.c'], ['MSIZE', 'BSIZE', 'TITER']),
    'jacobi_taskdep': ('jacobi', JACOBI + ['src/jacobi-task-dep.c'], ['MSIZE', 'BSIZE', 'TITER']),
    'jacobi_block_task': ('jacobi', JACOBI + ['src/jacobi-block-task.c'], ['MSIZE', 'BSIZE', 'TITER']),
    'jacobi_block_taskdep': ('jacobi', JACOBI + ['src/jacobi-block-task-dep.c'], ['MSIZE', 'BSIZE', 'TITER']),
    'jacobi_block_for': ('jacobi', ['src/poisson-for.c', 'src/jacobi-seq.c', 'src/jacobi-block-for.c'],
                         ['MSIZE', 'BSIZE', 'TITER']),
    'sparselu_task': ('sparselu', ['src/sparselu.c', 'src/sparselu-seq.c', 'src/sparselu-task.c'], ['MSIZE', 'SMSIZE']),
    'sparselu_taskdep': ('sparselu', ['src/sparselu.c', 'src/sparselu-seq.c', 'src/sparselu-task-dep.c'],
                         ['MSIZE', 'SMSIZE']),
    'strassen_task': ('strassen', ['src/strassen.c', 'src/strassen-seq.c', 'src/strassen-task.c'],
                      ['MSIZE', 'CUTOFF_SIZE', 'CUTOFF_DEPTH']),
    'strassen_taskdep': ('strassen', ['src/strassen.c', 'src/strassen-seq.c', 'src/strassen-task-dep.c'],
                         ['MSIZE', 'CUTOFF_SIZE', 'CUTOFF_DEPTH']),
}
ARGUMENTS = {
    'jacobi': ['-n', '512', '-b', '64', '-r', '4'],
    'sparselu': ['-n', '12', '-m', '16'],
    'strassen': ['-n', '512', '-s', '64', '-d', '4'],
}


def build(options, runtime):
    source = os.path.join(options.suites, NAME)
    target = os.path.join(options.work, f'{NAME}-{runtime.kind}')
    os.makedirs(target, exist_ok=True)
    for program, (folder, sources, macros) in PROGRAMS.items():
        if os.path.exists(os.path.join(target, program)):
            continue
        here = os.path.join(source, folder)
        common.shell([runtime.compiler, '-fopenmp', '-O2', '-w', '-D_POSIX_C_SOURCE=200809L', '-D_XOPEN_SOURCE=700',
                      f'-I{here}/include', f'-I{source}/common', *[f'-D{m}' for m in macros],
                      *[os.path.join(here, s) for s in sources], os.path.join(source, 'common', 'main.c'),
                      '-o', os.path.join(target, program), '-lm'], target)
    return target


def verdict(ended):
    return 'pass' if 'Check : success' in ended.output else 'wrong'


def run(options, runtime):
    target = build(options, runtime)
    jobs = {}
    for program, (folder, _, _) in PROGRAMS.items():
        file = os.path.join(target, program)
        if os.path.exists(file):
            jobs[program] = ([file, '-c', '-i', '1', *ARGUMENTS[folder]], target)
    return common.run_all(jobs, options, runtime, verdict)
