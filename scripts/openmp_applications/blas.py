"""MKL and OpenBLAS inside parallel regions and tasks: heddle-blas of the build, which checks its numbers."""
import os
import re

from . import common

SHAPES = ((2, 2), (4, 2), (1, 4), (4, 4))
ROUTINES = 'gemm,potrf,getrf,geqrf,syevd'


def seconds(output):
    """Sum of the medians that heddle-blas tells."""
    times = [float(t) for t in re.findall(r'\btime +([0-9.e+-]+) s', output)]
    if not times:
        raise ValueError('no times')
    return sum(times)


def result(output):
    """One line a routine: without these nothing was computed."""
    if not re.search(r'\btime ', output):
        raise ValueError('no result')


def program(options):
    return os.path.join(options.heddle, 'libexec', 'heddle', 'heddle-blas')


def case(options, name, library, routines, outer, inner, n, repeats, **more):
    folder = os.path.dirname(library)
    variables = {'HEDDLE_BLAS': library, 'OMP_MAX_ACTIVE_LEVELS': '2'}
    words = [program(options), routines, '--outer', str(outer), '--inner', str(inner), '--n', str(n), '--repeat', str(repeats)]
    for option, value in more.items():
        words += [f'--{option}', str(value)]
    return common.Case(name, words, variables, [folder], result, seconds)


def libraries(options):
    """{name: (file, options of heddle-blas)} of what is below the folder."""
    found = {}
    mkl = common.find_file(options.folder, 'libmkl_rt.so.3', 'libmkl_rt.so.2')
    if mkl:
        found['mkl'] = (mkl, {'layer': 'gnu'})
        found['mkl-intel'] = (mkl, {'layer': 'intel'})
    open_blas = common.find_file(options.folder, 'libopenblasp-r0.3.21.so', 'libopenblas.so.0')
    if open_blas:
        found['openblas'] = (open_blas, {})
    return found


def to_check(options, small=300):
    cases = []
    for name, (file, more) in libraries(options).items():
        for outer, inner in SHAPES if name != 'openblas' else ((1, 4), (1, 8), (4, 1), (8, 1)):
            for tasks in (0, 1) if outer > 1 else (0,):
                kind = ' tasks' if tasks else ''
                cases.append(case(options, f'{name} {outer}x{inner}{kind}', file, ROUTINES, outer, inner, small, 1, tasks=tasks,
                                  **more))
        cases.append(case(options, f'{name} cholesky', file, 'cholesky', 4, 4, 100, 1, tiles=5, **more))
    return cases


def to_measure(options):
    """4 problems at once, each by 4 threads, and what is flat: each by one, or one after the other by 2."""
    cases = []
    for name, (file, more) in libraries(options).items():
        for routine in ROUTINES.split(','):
            n = 300 if routine == 'syevd' else 700
            for outer, inner in ((4, 4), (4, 1), (1, 2)) if name != 'openblas' else ((1, 2), (1, 4), (4, 1)):
                cases.append(case(options, f'{name} {routine} {outer}x{inner}', file, routine, outer, inner, n, 3, problems=4,
                                  **more))
        if name == 'openblas':  # in a region it computes with one thread: only the region can be larger than the workers
            for outer, tasks in ((2, 0), (4, 0), (8, 0), (4, 1), (8, 1)):
                cases.append(case(options, f'{name} all {outer}x1{" tasks" if tasks else ""}', file, ROUTINES, outer, 1, 400, 3,
                                  problems=8, tasks=tasks, **more))
    return cases
