"""Runtimes, and what the suites share."""
import concurrent.futures
import dataclasses
import os
import shutil
import subprocess

import limited_run

ENGINES = ('OMP_', 'KMP_', 'GOMP_', 'HEDDLE_')


@dataclasses.dataclass
class Runtime:
    """A compiler, and the library that its programs are run with."""
    name: str              # gcc, clang, heddle-gcc, heddle-clang
    compiler: str          # the C compiler
    library: str = ''      # folder for LD_LIBRARY_PATH; empty: what the system has

    @property
    def kind(self):
        return 'clang' if 'clang' in os.path.basename(self.compiler) else 'gcc'


@dataclasses.dataclass
class Options:
    suites: str            # the folder in which the suites are
    work: str              # for what is compiled
    limit: float           # seconds a test
    threads: int
    jobs: int
    match: str = ''        # only tests whose names contain it
    lit: str = 'lit'
    tools: str = ''        # folder with FileCheck and not
    most: int = 0          # seconds for the whole of llvm's tests; those that are left then are skipped; 0: no limit


def environment_for(runtime, options, **more):
    e = {k: v for k, v in os.environ.items() if not k.startswith(ENGINES) or k.startswith('HEDDLE_')}
    if runtime.library:
        e['LD_LIBRARY_PATH'] = ':'.join(filter(None, [os.path.abspath(runtime.library), e.get('LD_LIBRARY_PATH')]))
    e['OMP_NUM_THREADS'] = str(options.threads)
    e.update(more)
    return e


def copy_of(options, suite, kind):
    """The suite in a folder of its own for each kind of compiler, since most build beside their sources."""
    target = os.path.join(options.work, f'{suite}-{kind}')
    if not os.path.isdir(target):
        shutil.copytree(os.path.join(options.suites, suite), target, ignore=shutil.ignore_patterns('.git'))
    return target


def shell(words, folder, **how):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, **how)
    with open(os.path.join(folder, 'build.log'), 'a', encoding='utf-8') as log:
        log.write(f'$ {words}\n{done.stdout}\n')
    return done.returncode


def run_all(jobs, options, runtime, verdict, **variables):
    """jobs: {test: (words, folder)}; verdict(ended): an outcome for a program that came to its end. {test: outcome}"""
    environment = environment_for(runtime, options, **variables)

    def one(job):
        words, folder = job
        ended = limited_run.run(words, options.limit, environment, folder, stacks=False)
        if not ended.right:
            return ended.outcome
        return verdict(ended)

    chosen = {name: job for name, job in jobs.items() if options.match in name}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return dict(zip(chosen, pool.map(one, chosen.values())))
