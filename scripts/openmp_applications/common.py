"""Runtimes under unchanged programs, repeated runs, and runs side by side."""
import concurrent.futures
import dataclasses
import os
import resource
import statistics
import subprocess
import time

import limited_run

ENGINES = ('OMP_', 'KMP_', 'GOMP_', 'MKL_', 'LD_PRELOAD')


@dataclasses.dataclass
class Runtime:
    """How the OpenMP library gets into a program that was linked against another one."""
    name: str
    preload: str = ''       # a file for LD_PRELOAD
    folder: str = ''        # looked into first for shared libraries
    command: tuple = ()     # words in front of the program: heddle run --


@dataclasses.dataclass
class Case:
    """One command of an application."""
    name: str
    words: list
    variables: dict         # environment
    folders: list           # where its shared libraries are
    result: object = None   # of its output: what has to be the same everywhere; raises ValueError if it is wrong
    seconds: object = None  # of its output: the time that it tells; None: that of the process
    compared: bool = False  # result tells what differs from its first call: that has to be on the program's own runtime
    only: tuple = ()        # runtimes on which it makes sense; empty: all


@dataclasses.dataclass
class Options:
    folder: str
    heddle: str             # build folder
    limit: float
    jobs: int
    runs: int
    rounds: int
    match: str


def runtimes(options, names):
    openmp = os.path.join(options.heddle, 'openmp')
    library = os.path.join(openmp, 'libheddle_omp.so')
    known = {
        'heddle': Runtime('heddle', preload=library, folder=openmp),
        'heddle-path': Runtime('heddle-path', folder=openmp),
        'heddle-run': Runtime('heddle-run', command=(os.path.join(options.heddle, 'heddle'), 'run', '--')),
        'own': Runtime('own'),
        'libgomp': Runtime('libgomp', preload='libgomp.so.1'),
        'libomp': Runtime('libomp', preload=find_file('/usr/lib', 'libomp.so.5') or 'libomp.so.5'),
        'libiomp': Runtime('libiomp', preload=find_file(options.folder, 'libiomp5.so') or 'libiomp5.so'),
    }
    return [known[name] for name in names]


def find_file(folder, *names):
    """The first file of one of these names below a folder, or None."""
    for name in names:
        for where, inner, files in os.walk(folder):
            inner.sort()
            if name in files:
                return os.path.join(where, name)
    return None


def same_as_first(part):
    """A check that part(output) is in all outputs what it was in the first."""
    expected = []

    def check(output):
        if not expected:
            expected.append(part(output))
        if part(output) != expected[0]:
            raise ValueError('other numbers')

    return check


def environment(case, runtime):
    e = {k: v for k, v in os.environ.items() if not k.startswith(ENGINES)}
    e['LD_LIBRARY_PATH'] = ':'.join(filter(None, [runtime.folder, *case.folders, e.get('LD_LIBRARY_PATH')]))
    if runtime.preload:
        e['LD_PRELOAD'] = runtime.preload
    e.update(case.variables)
    return e


def words(case, runtime):
    return [*runtime.command, *case.words]


def repeat(case, runtime, options):
    """options.runs times. {outcome: how often}, and what the first one that was not right said."""
    counts, told = {}, ''

    def one(_):
        ended = limited_run.run(words(case, runtime), options.limit, environment(case, runtime))
        outcome = ended.outcome
        if outcome == 'pass' and case.result is not None:
            try:
                case.result(ended.output)
            except ValueError as wrong:
                outcome = f'wrong: {wrong}'
        return outcome, ended

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome, ended in pool.map(one, range(options.runs)):
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome != 'pass' and not told:
                told = ended.output + ended.stacks
    return counts, told


def once(case, runtime, options):
    """(seconds, seconds of processor time, what it said), or None if it did not end well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    try:
        done = subprocess.run(words(case, runtime), env=environment(case, runtime), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                              timeout=options.limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    took = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None
    if case.result is not None:
        try:
            case.result(done.stdout)
        except ValueError:
            return None
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (case.seconds(done.stdout) if case.seconds else took, used, done.stdout)


def measure(cases, chosen, options, keep):
    """All cases on all runtimes in turns. {case: {runtime: {median, least, processor, runs, lost}}}, which keep() is told
    after each turn."""
    got = {c.name: {r.name: [] for r in chosen} for c in cases}
    lost = {c.name: {r.name: 0 for r in chosen} for c in cases}
    for turn in range(options.rounds):
        for case in cases:
            for runtime in chosen if turn % 2 == 0 else reversed(chosen):
                if case.only and runtime.name not in case.only:
                    continue
                if lost[case.name][runtime.name] > 1:  # it would take the limit again and again
                    continue
                ended = once(case, runtime, options)
                if ended is None:
                    lost[case.name][runtime.name] += 1
                else:
                    got[case.name][runtime.name].append(ended)
        table = table_of(cases, chosen, got, lost)
        keep(table)
    return table


def table_of(cases, chosen, got, lost):
    table = {}
    for case in cases:
        table[case.name] = {}
        for runtime in chosen:
            ended = got[case.name][runtime.name]
            if not ended and not lost[case.name][runtime.name]:
                continue
            row = {'runs': len(ended), 'lost': lost[case.name][runtime.name]}
            if ended:
                row.update(median=statistics.median(e[0] for e in ended), least=min(e[0] for e in ended),
                           processor=statistics.median(e[1] for e in ended))
            table[case.name][runtime.name] = row
    return table


def machine():
    """What the figures were taken on, and how busy it was at the end."""
    said = {'processors': len(os.sched_getaffinity(0)), 'load': os.getloadavg(), 'date': time.strftime('%Y-%m-%d')}
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        for line in f:
            if line.startswith('model name'):
                said['processor'] = line.split(':', 1)[1].strip()
                break
    said['kernel'] = os.uname().release
    return said
