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


def installed(options):
    """(lmp, the folders of its libraries), or None without a LAMMPS that can be run."""
    home = os.path.join(options.folder, 'lammps')
    for where, inner, files in os.walk(home):
        inner.sort()
        if 'lmp' in files and common.find_file(where, 'liblammps.so.0'):
            mpi = common.find_file(home, 'libmpi.so.12') or common.find_file(home, 'libmpi.so.40')
            return os.path.join(where, 'lmp'), [os.path.dirname(mpi)] if mpi else []
    return None


def cases(options, threads, steps):
    found = installed(options)
    if found is None:
        return []
    program, folders = found
    script = os.path.join(tempfile.gettempdir(), f'heddle-melt-{os.getuid()}-{steps}.in')
    with open(script, 'w', encoding='utf-8') as f:
        f.write(MELT.format(steps=steps))
    # The forces of threads are added in the order of their numbers: the same for one number of threads.
    return [common.Case(f'lammps melt {n}', [program, '-in', script, '-log', 'none', '-sf', 'omp', '-pk', 'omp', str(n)],
                        {'OMP_NUM_THREADS': str(n)}, folders, common.same_as_first(numbers), seconds, True) for n in threads]


def last_step(output):
    said = re.search(r'last step ([0-9.e+-]+) s', output)
    if said is None:
        raise ValueError('no time')
    return float(said.group(1))


def state(output):
    said = re.search(r'temperature .*', output)
    if said is None:
        raise ValueError('no temperature')
    return said.group(0)


def insitu(options, steps):
    """The simulation with analyses beside it (figures 3.13 and 3.14 of the preemption thesis), until its last step."""
    found = installed(options)
    if found is None:
        return []
    program, folders = found
    library = common.find_file(os.path.dirname(program), 'liblammps.so.0')
    begin = [os.path.join(options.heddle, 'libexec', 'heddle', 'heddle-insitu'), '--lammps', library, '--steps', str(steps)]
    same, ways = {}, []
    for by, only in (('heddle', ('heddle',)), ('kernel', ('own', 'libgomp', 'libomp'))):
        for every, words in ((0, []), (1, ['--priorities', '0']), (1, []), (2, ['--priorities', '0']), (2, [])):
            ways.append((by, only, every, words))
    for pieces in (1, 4, 16, 64):
        ways.append(('heddle', ('heddle',), 2, ['--technique', 'none', '--pieces', str(pieces)]))
    for pieces in (4, 16):
        ways.append(('heddle', ('heddle',), 2, ['--pieces', str(pieces)]))
    cases_of = []
    for by, only, every, words in ways:
        name = ' '.join(['lammps insitu', f'every {every}' if every else 'alone', *(w.strip('-') for w in words)])
        # The numbers of an analysis are the same whoever computes it.
        right = same.setdefault(every, common.same_as_first(state))
        cases_of.append(common.Case(name, [*begin, '--by', by, '--every', str(every), *words], {'OMP_NUM_THREADS': '2'},
                                    folders, right, last_step, only=only))
    return cases_of


def to_check(options):
    return cases(options, (1, 2, 4), 20) + insitu(options, 10)


def to_measure(options):
    return cases(options, (1, 2), 100) + insitu(options, 50)
