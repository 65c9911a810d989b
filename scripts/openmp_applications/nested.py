"""A parallel loop inside of a parallel region, in all shapes: heddle-openmp-nested of the build, which checks its sum."""
import os

from . import blas, common


def case(options, outer, inner, loops, repeats):
    program = os.path.join(options.heddle, 'libexec', 'heddle', 'heddle-openmp-nested')
    words = [program, '--outer', str(outer), '--inner', str(inner), '--loops', str(loops), '--repeat', str(repeats)]
    return common.Case(f'nested {outer}x{inner}', words, {'OMP_MAX_ACTIVE_LEVELS': '2'}, [], blas.result, blas.seconds)


def cases(options, threads, loops, repeats):
    return [case(options, outer, inner, loops, repeats) for outer in threads for inner in threads]


def to_check(options):
    return cases(options, (1, 2, 8), 20, 1)


def to_measure(options):
    return cases(options, (1, 2, 4, 8), 50, 3)
