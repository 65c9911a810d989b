#!/usr/bin/env python3
"""OpenMP's tasks in traces: `heddle dag` finds the work, the span and the number of tasks of programs for which these
are known, and under a policy that places tasks a program comes back to its data.

Usage: dag_test.py --build BUILD --compiler gcc-12. Exit status: 0 all right, 1 not, 77 the compiler is not there.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# name: tasks, work and span in leaves
KNOWN = {
    'tree': (126, 64, 1),
    'chain': (20, 20, 20),
    'rounds': (40, 40, 20),
    'loop': (16, 64, 4),
    'group': (72, 65, 2),
    'awaited': (8, 8, 8),
}
MACHINE = 'skylake-2x20'
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
        print(f'not so: {text}', file=sys.stderr)


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def compile_program(build, compiler, name):
    base, dash, version = compiler.partition('-')
    found = shutil.which({'gcc': 'g++', 'clang': 'clang++'}[base] + dash + version)
    if found is None:
        print(f'{compiler} is not there')
        sys.exit(77)
    root = os.path.join(HERE, '..', '..')
    folder = os.path.join(build, 'tests', 'openmp-traced', compiler)  # tests of two compilers run at a time
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, name)
    # The library for OpenMP is heddle's: it is there, where the compiler's own may not be.
    run([found, '-std=c++20', '-O2', '-fopenmp', os.path.join(HERE, 'traced', f'{name}.cpp'), '-o', program,
         '-I', os.path.join(root, 'include'), '-L', os.path.join(build, 'openmp'), '-L', build, '-lheddle',
         f'-Wl,-rpath,{os.path.join(build, "openmp")}:{build}'])
    return program


def dag_of(heddle, trace):
    return json.loads(run([heddle, 'dag', '--json', trace]).stdout)


def near(a, b, part=0.06):
    return abs(a - b) <= part * b


def check_graphs(heddle, program, folder, policy):
    """On a modelled machine, where a leaf takes what it says."""
    leaf = None
    for name in ('awaited', *(n for n in KNOWN if n != 'awaited')):
        tasks, work, span = KNOWN[name]
        trace = os.path.join(folder, f'{name}-{policy}.heddle')
        run([heddle, 'sim', '--machine', MACHINE, '--policy', policy, '--no-serial', '--trace', trace, '--', program, name])
        found = dag_of(heddle, trace)
        # The region's leader makes the other members before the tasks begin.
        before = sum(f['on_path_ns'] for f in found['functions'] if f['name'] == '(outside tasks)')
        its_work = found['work_ns'] - before
        its_span = found['span_ns'] - before
        if leaf is None:
            leaf = its_work / work
        told = f"{name} under {policy}: {found['spawns']} tasks, work {its_work / leaf:.2f}, span {its_span / leaf:.2f}"
        print(told)
        check(found['lost'] == 0, f'{told}: nothing is lost')
        check(found['spawns'] == tasks, f'{told}: {tasks} tasks')
        check(near(its_work, work * leaf), f'{told}: work {work}')
        check(near(its_span, span * leaf), f'{told}: span {span}')


def check_names(heddle, program, folder):
    """Here: the serial execution, by `heddle dag -- PROGRAM`."""
    found = None
    for _ in range(40):  # a leaf that another program interrupts is the span
        found = json.loads(run([heddle, 'dag', '--json', '--', program, 'tree']).stdout)
        if found['parallelism'] > 8:
            break
    check(found['spawns'] == 126, f"heddle dag -- tree: {found['spawns']} tasks, not 126")
    check(found['parallelism'] > 8, f"heddle dag -- tree: parallelism {found['parallelism']}")
    names = ' '.join(f['name'] for f in found['functions'])
    check('tree' in names, f'tasks have the name of what makes them: {names}')
    trace = os.path.join(folder, 'stolen.heddle')
    run([heddle, 'run', '--trace', trace, '--', program, 'tree'], env={**os.environ, 'OMP_NUM_THREADS': '2'})
    text = run([heddle, 'report', trace]).stdout
    check('tasks' in text, 'heddle report counts tasks')


def misses(heddle, program, policy, folder):
    file = os.path.join(folder, f'heat-{policy}.json')
    run([heddle, 'sim', '--machine', 'skylake-4x16', '--policy', policy, '--no-serial', '--json', file, '--', program])
    with open(file, encoding='utf-8') as f:
        row = json.load(f)
    row = row[0] if isinstance(row, list) else row
    row = row.get('runs', [row])[0] if isinstance(row, dict) else row
    last = row['levels'][-1]
    return last['misses'], row['virtual_seconds']


def check_places(heddle, program, folder):
    under = {policy: misses(heddle, program, policy, folder) for policy in ('random_ws', 'adws')}
    print('heat, misses of the last level and seconds:', under)
    check(under['adws'][0] < 0.7 * under['random_ws'][0], f'adws misses less: {under}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('--compiler', required=True)
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    heddle = os.path.join(build, 'heddle')
    program = compile_program(build, given.compiler, 'tasks')
    folder = os.path.dirname(program)
    check_names(heddle, program, folder)
    if re.search(r'\bsim\b', run([heddle, 'help']).stdout) and os.path.exists(os.path.join(build, 'sim')):
        for policy in ('random_ws', 'adws'):
            check_graphs(heddle, program, folder, policy)
        check_places(heddle, compile_program(build, given.compiler, 'heat'), folder)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
