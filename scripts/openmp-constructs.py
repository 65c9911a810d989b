#!/usr/bin/env python3
"""What constructs of OpenMP cost: on libgomp by gcc, on libomp by clang, and on heddle by both, in turn.

  scripts/openmp-constructs.py                          heddle's own programs (bench/openmp), 1, 2 and 4 threads
  scripts/openmp-constructs.py --epcc FOLDER            and the EPCC micro-benchmarks 3.1 that lie there
  scripts/openmp-constructs.py --json FILE              all values, round by round
  scripts/openmp-constructs.py --from FILE --from FILE  no measuring: the table of what such files hold together
  scripts/openmp-constructs.py --smoke                  everything once at tiny sizes: are the results right

The table has the median of all rounds, and at 1, 2 and 4 threads how many times longer heddle's slower build took than
the slower of the two rivals. The exit status is 1 if a program failed or a result was wrong.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import limited_run  # noqa: E402  (the path has to be set before)
from openmp_suites import common, epcc  # noqa: E402

NAMES = ['gcc', 'clang', 'heddle-gcc', 'heddle-clang']
BUILD = os.path.join(HERE, '..', 'build', 'release')


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--programs', default=os.path.join(BUILD, 'libexec', 'heddle'), help='where heddle-openmp-gcc and -clang are')
    p.add_argument('--library', default=os.path.join(BUILD, 'openmp'), help="heddle's folder with libgomp.so.1 and libomp.so.5")
    p.add_argument('--epcc', default='', help='a folder with the EPCC micro-benchmarks in epcc/')
    p.add_argument('--work', default='', help='where those are compiled (default: work in that folder)')
    p.add_argument('--gcc', default='gcc-12', help='(%(default)s)')
    p.add_argument('--clang', default='clang-19', help='(%(default)s)')
    p.add_argument('--runtime', default=','.join(NAMES), help='(%(default)s)')
    p.add_argument('--threads', default='1,2,4', help='(%(default)s)')
    p.add_argument('--rounds', type=int, default=5, help='(%(default)s)')
    p.add_argument('--seconds', type=float, default=1, help='for each construct of the own programs (%(default)s)')
    p.add_argument('--most', type=float, default=0, help='seconds, after which no further round begins; 0: no limit')
    p.add_argument('--limit', type=float, default=120, help='seconds a program may take (%(default)s)')
    p.add_argument('--match', default='', help='only programs or own constructs whose names contain one of these, with commas')
    p.add_argument('--json', default='', help='a file for all values')
    p.add_argument('--from', dest='files', action='append', default=[], help='a file of that kind; no measuring')
    p.add_argument('--smoke', action='store_true', help='tiny sizes, once')
    return p.parse_args()


OWN = ['fib', 'wavefront', 'tasks-of-one', 'tasks-of-all', 'taskloop-ones', 'taskloop', 'nested-regions', 'nested-loops']
SMALL = {'fib': 10, 'wavefront': 10, 'taskloop': 10, 'nested-regions': 3, 'nested-loops': 3}


class Measures:
    """{threads: {construct: {runtime: values}}}, in nanoseconds."""

    def __init__(self):
        self.values = {}
        self.failures = []

    def add(self, threads, construct, runtime, values):
        self.values.setdefault(str(threads), {}).setdefault(construct, {}).setdefault(runtime, []).extend(values)

    def join(self, values):
        for threads, of in values.items():
            for construct, by in of.items():
                for runtime, those in by.items():
                    self.add(threads, construct, runtime, those)


def wanted(name, given):
    return not given.match or any(part in name for part in given.match.split(','))


def run_own(measures, given, runtime, threads):
    program = os.path.join(os.path.abspath(given.programs), f'heddle-openmp-{runtime.kind}')
    if not os.path.exists(program):
        return
    for construct in OWN:
        if not wanted(construct, given):
            continue
        words = [program, '--construct', construct, '--threads', str(threads)]
        if given.smoke:
            words += ['--samples', '1', '--n', str(SMALL.get(construct, 100))]
        else:
            words += ['--samples', '3', '--seconds', str(given.seconds)]
        ended = limited_run.run(words, given.limit, environment(runtime, threads), stacks=False)
        if not ended.right:
            measures.failures.append(f'{construct}, {threads} threads, {runtime.name}: {ended.outcome}')
            continue
        for line in ended.output.splitlines():
            if line.startswith('{'):
                told = json.loads(line)
                measures.add(threads, f'{told["construct"]}, {told["unit"]}', runtime.name, told['samples'])


def environment(runtime, threads):
    options = common.Options('', '', 0, threads, 1)
    return common.environment_for(runtime, options)


def run_epcc(measures, given, runtime, threads, folders):
    for program in epcc.PROGRAMS:
        file = os.path.join(folders[runtime.kind], 'bin', program)
        if not os.path.exists(file) or not wanted(program, given):
            continue
        repeat, target = ('2', '20') if given.smoke else ('10', '300')
        ended = limited_run.run([file, '--outer-repetitions', repeat, '--test-time', target], given.limit,
                                environment(runtime, threads), folders[runtime.kind], stacks=False)
        if not ended.right:
            measures.failures.append(f'{program}, {threads} threads, {runtime.name}: {ended.outcome}')
        for construct, value in epcc.overheads(ended.output).items():
            measures.add(threads, f'{program}: {construct}', runtime.name, [1000 * value])


def measure(given, measures):
    compilers = {'gcc': shutil.which(given.gcc) or shutil.which('gcc'), 'clang': shutil.which(given.clang) or shutil.which('clang')}
    runtimes = [common.Runtime(n, compilers[n.split('-')[-1]], os.path.abspath(given.library) if '-' in n else '')
                for n in given.runtime.split(',') if compilers[n.split('-')[-1]]]
    folders = {}
    if given.epcc:
        suites = os.path.abspath(given.epcc)
        options = common.Options(suites, os.path.abspath(given.work or os.path.join(suites, 'work')), given.limit, 2, 1)
        os.makedirs(options.work, exist_ok=True)
        folders = {r.kind: epcc.build(options, r) for r in runtimes}
    begun = time.monotonic()
    for turn in range(1 if given.smoke else given.rounds):
        for threads in map(int, given.threads.split(',')):
            if given.most and time.monotonic() - begun > given.most:
                return
            shift = turn % len(runtimes)
            for runtime in runtimes[shift:] + runtimes[:shift]:
                if folders:
                    run_epcc(measures, given, runtime, threads, folders)
                run_own(measures, given, runtime, threads)
            dump(given, measures)  # what there is so far, should something end this


def table(measures):
    lines = []
    for threads in sorted(measures.values, key=int):
        lines += [f'\n### {threads} thread{"s" if threads != "1" else ""}', '',
                  '| construct, ns | libgomp | libomp | heddle, gcc | heddle, clang | to the slower rival |',
                  '| --- | ---: | ---: | ---: | ---: | ---: |']
        for construct, by in measures.values[threads].items():
            median = {r: statistics.median(v) for r, v in by.items() if v}
            rivals = [median[r] for r in ('gcc', 'clang') if r in median]
            own = [median[r] for r in ('heddle-gcc', 'heddle-clang') if r in median]
            ratio = f'{max(own) / max(rivals):.2f}' if own and rivals and max(rivals) > 0 else ''
            cells = ['-' if r not in median else f'{median[r]:,.0f}' if abs(median[r]) >= 100 else f'{median[r]:.1f}'
                     for r in NAMES]
            lines.append(f'| {construct} | ' + ' | '.join(cells) + f' | {ratio} |')
    return '\n'.join(lines)


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            return next(line.split(':', 1)[1].strip() for line in f if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.processor()


def dump(given, measures):
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as f:
            json.dump({'date': time.strftime('%Y-%m-%d'), 'processor': processor(), 'processors': os.cpu_count(),
                       'kernel': platform.release(), 'rounds': given.rounds, 'nanoseconds': measures.values}, f)
            f.write('\n')


def main():
    given = parse()
    measures = Measures()
    for file in given.files:
        with open(file, encoding='utf-8') as f:
            measures.join(json.load(f)['nanoseconds'])
    if not given.files:
        measure(given, measures)
    dump(given, measures)
    if not given.smoke:
        print(table(measures))
    for line in measures.failures:
        print(line, file=sys.stderr)
    return 1 if measures.failures else 0


if __name__ == '__main__':
    sys.exit(main())
