#!/usr/bin/env python3
"""Compiles the programs of tests/omp/programs and runs them on an OpenMP library. Says which fail, and how.

Each program checks itself and ends with 0 if all was right. Lines at its head say what it needs:

  // env: NAME=VALUE ...    variables that it is run with
  // link: -pthread ...     further words for the compiler
  // library: NAME          library/NAME.c is compiled to a shared library, whose path is the program's argument
  // plain: WHY             the program itself is compiled without -fopenmp
  // stderr: TEXT           a text that has to be in what it prints
  // hangs: NAME=VALUE ...  with these variables besides it does not end, which is tried with heddle
  // not: COMPILER, WHY     a compiler that cannot build it
  // needs: preload, WHY    works only where the library is preloaded; elsewhere heddle does not run it
  // oracle: not RUNTIME: WHY   a runtime of other people that it is known to fail on; used with --runtime alone

Exit status: 0 all right, 1 some failed, 77 the compiler is not there.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'scripts'))
import limited_run  # noqa: E402  (the path has to be set before)

PROGRAMS = os.path.join(HERE, 'programs')
SECONDS_OF_A_HANG = 4  # of programs that take a tenth of a second if they end
TRIES_OF_A_HANG = 5  # one in twenty ends by luck
KINDS = {'.c': 'c', '.cpp': 'c++', '.f90': 'fortran'}


class Program:
    def __init__(self, file):
        self.file = file
        self.name, self.kind = os.path.splitext(file)[0], KINDS[os.path.splitext(file)[1]]
        self.env, self.link, self.wanted, self.excluded, self.failing = {}, [], [], [], []
        self.hanging = {}
        self.library, self.plain, self.preloaded = None, False, False
        with open(os.path.join(PROGRAMS, file), encoding='utf-8') as f:
            for line in f:
                said = re.match(r'(?://|!) (env|link|library|plain|stderr|hangs|needs|not|oracle): (.*)', line)
                if said is None:
                    if not line.startswith(('//', '!')):
                        break
                    continue
                key, value = said.groups()
                if key == 'env':
                    self.env.update(word.split('=', 1) for word in value.split())
                elif key == 'link':
                    self.link += value.split()
                elif key == 'library':
                    self.library = value.strip()
                elif key == 'plain':
                    self.plain = True
                elif key == 'needs':
                    self.preloaded = True
                elif key == 'stderr':
                    self.wanted.append(value)
                elif key == 'hangs':
                    self.hanging.update(word.split('=', 1) for word in value.split())
                elif key == 'not':
                    self.excluded.append(re.split('[, ]', value)[0])
                elif key == 'oracle':
                    self.failing.append(re.match(r'not (\w+)', value).group(1))


def compiler_for(kind, compiler):
    """gcc-12 -> g++-12, gfortran-12; clang-19 -> clang++-19. None where it is not there."""
    base, dash, version = os.path.basename(compiler).partition('-')
    names = {'gcc': {'c': 'gcc', 'c++': 'g++', 'fortran': 'gfortran'}, 'clang': {'c': 'clang', 'c++': 'clang++'}}
    name = names.get(base, {'c': base}).get(kind)
    return None if name is None else shutil.which(os.path.join(os.path.dirname(compiler), name + dash + version))


def compile_into(folder, compiler, flags, source, target, more):
    """Only if the source, the header or the command has changed. None, or what the compiler said."""
    command = [compiler, *flags, '-o', target, source, *more]
    note = target + '.command'
    inputs = [os.path.join(PROGRAMS, file) for file in (source, 'check.h', 'meet.h', 'spin.h')]
    if os.path.exists(target) and os.path.exists(note):
        with open(note, encoding='utf-8') as f:
            if f.read() == ' '.join(command) and all(os.path.getmtime(i) <= os.path.getmtime(target) for i in inputs):
                return None
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROGRAMS, check=False)
    if done.returncode != 0:
        return done.stderr
    with open(note, 'w', encoding='utf-8') as f:
        f.write(' '.join(command))
    return None


def build(program, options):
    compiler = compiler_for(program.kind, options.compiler)
    if compiler is None:
        return 'no compiler'
    flags = ['-O1', *([] if program.plain else ['-fopenmp']), *options.flag]
    if program.kind == 'fortran':
        flags += ['-J', options.build]
    target = os.path.join(options.build, program.file)
    wrong = compile_into(options.build, compiler, flags, program.file, target + '.run', program.link)
    if wrong is None and program.library:
        c = compiler_for('c', options.compiler)
        wrong = compile_into(options.build, c, ['-O1', '-fopenmp', '-shared', '-fPIC', *options.flag],
                             os.path.join('library', program.library + '.c'), target + '.so', [])
    return wrong


def environment_for(program, options, threads):
    e = {k: v for k, v in os.environ.items() if not k.startswith(('OMP_', 'KMP_', 'GOMP_'))}
    if options.library:
        e['LD_LIBRARY_PATH'] = ':'.join(filter(None, [os.path.abspath(options.library), e.get('LD_LIBRARY_PATH')]))
    if options.preload:
        e['LD_PRELOAD'] = ':'.join(os.path.abspath(library) for library in options.preload)
    e['OMP_NUM_THREADS'] = str(threads)
    e.update(word.split('=', 1) for word in options.env)
    e.update(program.env)
    return e


def run(program, options, threads):
    target = os.path.join(options.build, program.file)
    words = [target + '.run'] + ([target + '.so'] if program.library else [])
    environment = environment_for(program, options, threads)
    ended = limited_run.run(words, options.limit, environment, options.build)
    if ended.right and program.hanging and options.runtime == 'heddle':
        for _ in range(TRIES_OF_A_HANG):
            other = limited_run.run(words, SECONDS_OF_A_HANG, {**environment, **program.hanging}, options.build, stacks=False)
            if other.late:
                break
        else:
            ended.status = 1
            ended.output += f'did not hang with {program.hanging}: {other.outcome}\n{other.output}'
    missing = [text for text in program.wanted if text not in ended.output]
    if ended.right and missing:
        ended.status = 1
        ended.output += f'not printed: {missing[0]}\n'
    return ended


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('name', nargs='*', help='a program, or the beginning of its name (default: all)')
    p.add_argument('--compiler', default='gcc-12', help='the C compiler; those of other languages have like names (%(default)s)')
    p.add_argument('--flag', action='append', default=[], help='one more word for the compiler; may be repeated')
    p.add_argument('--build', required=True, help='folder for what is compiled')
    p.add_argument('--library', help='folder with libgomp.so.1 and libomp.so.5 (default: what the system has)')
    p.add_argument('--preload', action='append', help='library for LD_PRELOAD; may be repeated')
    p.add_argument('--env', action='append', default=[], help='NAME=VALUE for every run; may be repeated')
    p.add_argument('--threads', default='1,2,4,8', help='values of OMP_NUM_THREADS (%(default)s)')
    p.add_argument('--repeat', type=int, default=1, help='runs of each (%(default)s)')
    p.add_argument('--limit', type=float, default=60, help='seconds that a run may take (%(default)s)')
    p.add_argument('--jobs', type=int, default=os.cpu_count(), help='runs at a time (%(default)s)')
    p.add_argument('--runtime', default='heddle', help='whose runtime it is, for known failures: heddle, libgomp, libomp')
    p.add_argument('--build-only', action='store_true', help='compile, and run nothing')
    p.add_argument('--json', help='a file for the outcome of every run')
    return p.parse_args()


def main():
    options = parse()
    if compiler_for('c', options.compiler) is None:
        print(f'no compiler {options.compiler}: skipped')
        return 77
    options.build = os.path.abspath(options.build)
    os.makedirs(options.build, exist_ok=True)
    programs = [Program(f) for f in sorted(os.listdir(PROGRAMS)) if os.path.splitext(f)[1] in KINDS]
    programs = [p for p in programs if not options.name or p.name in options.name or p.name.startswith(tuple(options.name))]
    compiler = os.path.basename(options.compiler)
    programs = [p for p in programs if compiler not in p.excluded and compiler.split('-')[0] not in p.excluded]
    if options.runtime == 'heddle' and not options.preload:
        programs = [p for p in programs if not p.preloaded]
    results, failed, left_out = [], [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        built = []
        for program, wrong in zip(programs, pool.map(lambda p: build(p, options), programs)):
            if wrong == 'no compiler':
                left_out.append(program.file)
            elif wrong is not None:
                print(f'{program.file}: does not compile\n{wrong}')
                failed.append(f'{program.file} (does not compile)')
            else:
                built.append(program)
        jobs = []
        for program in [] if options.build_only else built:
            given = ['-'] if 'OMP_NUM_THREADS' in program.env else options.threads.split(',')
            jobs += [(program, threads) for threads in given for _ in range(options.repeat)]
        for (program, threads), ended in zip(jobs, pool.map(lambda job: run(job[0], options, job[1]), jobs)):
            known = options.runtime in program.failing
            results.append({'program': program.file, 'compiler': compiler, 'threads': threads, 'outcome': ended.outcome,
                            'seconds': round(ended.seconds, 3)})
            if ended.right or known:
                continue
            failed.append(f'{program.file} with {threads} threads ({ended.outcome})')
            print(f'--- {failed[-1]}\n{ended.output[-3000:]}{ended.stacks[-20000:]}', flush=True)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as f:
            json.dump(results, f, indent=1)
    if left_out:
        print(f'not built, for there is no compiler: {" ".join(left_out)}')
    print(f'{compiler}: {len(built)} programs, {len(jobs)} runs, {len(failed)} failed')
    for line in failed:
        print(f'  {line}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
