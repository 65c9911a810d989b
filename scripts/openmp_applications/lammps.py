"""LAMMPS with its package OPENMP: the melt of its benchmarks, whose numbers have to be the same on every runtime."""
import os
import re
import tempfile

from . import common

# The melt as LAMMPS's benchmarks have it, small enough for a test.
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 5 every 1
fix 1 all nve
thermo 10
run {steps}
"""


def numbers(output):
    """The table of temperatures, energies and pressures, as text: all digits count."""
    lines = re.findall(r'^ +\d+ +[-0-9.e+]+ +[-0-9.e+ ]+$', output, re.MULTILINE)
    if not lines:
        raise ValueError('no table')
    return lines


def seconds(output):
    said = re.search(r'Loop time of ([0-9.]+)', output)
    if said is None:
        raise ValueError('no loop time')
    return float(said.group(1))


def cases(options, threads, steps):
    """Empty without a program lmp below the folder that has the package."""
    home = os.path.join(options.folder, 'lammps')
    program = None
    for where, inner, files in os.walk(home):
        inner.sort()
        if 'lmp' in files and common.find_file(where, 'liblammps.so.0'):
            program = os.path.join(where, 'lmp')
            break
    if program is None:
        return []
    mpi = common.find_file(home, 'libmpi.so.12') or common.find_file(home, 'libmpi.so.40')
    folders = [os.path.dirname(mpi)] if mpi else []
    script = os.path.join(tempfile.gettempdir(), f'heddle-melt-{os.getuid()}-{steps}.in')
    with open(script, 'w', encoding='utf-8') as f:
        f.write(MELT.format(steps=steps))
    expected = []

    def same(output):
        if not expected:
            expected.append(numbers(output))
        if numbers(output) != expected[0]:
            raise ValueError('other numbers')

    return [common.Case(f'lammps melt {n}', [program, '-in', script, '-log', 'none', '-sf', 'omp', '-pk', 'omp', str(n)],
                        {'OMP_NUM_THREADS': str(n)}, folders, same, seconds) for n in threads]


def to_check(options):
    return cases(options, (1, 2, 4), 20)


def to_measure(options):
    return cases(options, (1, 2), 100)
