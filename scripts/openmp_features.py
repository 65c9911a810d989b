#!/usr/bin/env python3
"""openmp_features.py LIBRARY [--write]: the table of docs/guide/openmp_features.md, from what libheddle_omp.so defines,
the names that other runtimes define (tests/omp/symbols/), and the programs of tests/omp/programs.

Without --write it compares, and the exit status is 1 when the page says something else. Each name and each program
belongs to the first row that has a pattern for it; one that belongs to none is an error, so a feature that is new gets
its row here.
"""
import argparse
import fnmatch
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(TOP, 'docs', 'guide', 'openmp_features.md')
PROGRAMS = os.path.join(TOP, 'tests', 'omp', 'programs')
SYMBOLS = os.path.join(TOP, 'tests', 'omp', 'symbols')

# What, patterns of names, patterns of programs, what is different here.
ROWS = [
    ('OpenACC, plugins for devices', 'acc_* GOACC_* goacc_* _ZN*acc* GOMP_PLUGIN_* GOMP_OFFLOAD_* GOMP_offload_*', '',
     'not there'),
    ('tools (OMPT)', 'ompt_* __kmpc_get_taskid __kmpc_get_parent_taskid __kmpc_task_get_* __kmpc_invoke_task_func '
     'omp_control_tool*', 'ompt* tool_*', ''),
    ('insides of other runtimes', '__kmp_* ___kmp_* kmp_?_debug kmp_diag kmp_mutex_impl_info '
     '__kmpc_omp_get_target_async_handle_ptr __kmpc_omp_has_task_team __kmpc_for_collapsed_init '
     '__kmpc_calc_original_ivs_rectang __kmpc_process_loop_nest_rectang kmp_threadprivate_insert* __itt_* __ittapi* '
     'VT* kmp_itt*', '', 'no compiler calls them'),
    ('allocators', '*alloc* *_mem_space* omp_free* __kmpc_free GOMP_free kmp_free kmpc_free *memspace* *mempartition* '
     'omp_get_memory* *_mem_*', 'allocators*',
     'traits are kept, memory is the host\'s'),
    ('devices, `target`, interop', 'GOMP_target* omp_target* *device* *interop* *target_offload* '
     '__tgt_* omp_get_mapped_ptr* omp_get_uid* __kmpc_omp_target* *_offload* *devicetask*', 'target_*',
     'target regions run on the host'),
    ('atomics', '__kmpc_atomic_* GOMP_atomic_* __atomic_*', 'atomic*', ''),
    ('cancellation', '*cancel*', 'cancel*', ''),
    ('tasks: reductions', '*task_reduction* *taskred*', 'reduction_task*', ''),
    ('tasks: taskloop', '*taskloop*', 'task_loop* masked_taskloop*', ''),
    ('tasks: dependences, detach', '*depend* *_deps* omp_fulfill_event* *completion_event* *proxy_task*',
     'task_depend* task_detach* task_wavefront* task_exclusion*', ''),
    ('tasks', '*task*', 'task_*', 'untied tasks are tied'),
    ('teams, distribute', '*teams* GOMP_teams* __kmpc_dist_* __kmpc_team_* omp_get_team_* *num_teams* *team_num*',
     'teams_* environment_teams*', 'of gcc: teams of a league run one after the other'),
    ('doacross loops, `ordered`', '*doacross* *ordered*', 'loop_doacross* loop_ordered*', ''),
    ('loops', 'GOMP_loop* GOMP_parallel_loop* __kmpc_for_* __kmpc_dispatch_* *schedule* *_num_buffers*',
     'loop_* environment_schedule*', ''),
    ('sections, single, masked, scope', '*section* *single* *master* *masked* *copyprivate* *scope*',
     'sections* single* masked*', ''),
    ('critical, locks, hints', '*critical* omp_*lock* __kmpc_*lock*', 'critical* lock*', ''),
    ('reductions', '*reduc*', 'reduction_*', ''),
    ('barriers, flush', '*barrier* *flush*', 'barrier* flush*', ''),
    ('threadprivate', '*threadprivate*', 'threadprivate* thread_* key_destructors*', ''),
    ('affinity, places', '*affinity* *place* *proc_bind* *partition*',
     'api_affinity* binding_* environment_places* environment_proc_bind* parallel_proc_bind*',
     'a member with a place stays on a worker there'),
    ('parallel regions', 'GOMP_parallel* __kmpc_fork* *serialized* __kmpc_push_num_threads* __kmpc_pop_num_threads '
     '__kmpc_begin __kmpc_end __kmpc_ok_to_fork __kmpc_bound_* __kmpc_global_* __kmpc_in_parallel __kmpc_copyprivate '
     '__kmpc_set_thread_limit *thread_num* *num_threads* *in_parallel* *level* *nested* *thread_limit* *team_size* '
     '*dynamic* *max_threads* *known_threads*',
     'parallel_* gangs* spin_* environment_* exceptions* end_*', ''),
    ('variables, time, `KMP_` functions', 'omp_* ompc_* ompx_* kmp_* kmpc_* __kmpc_error GOMP_error GOMP_warning __kmpc_pause_* '
     'FTN_* *_', 'api_*', ''),
    ('waits in the C library', '', 'waits_* blocking_members*', 'with `heddle run` and `python -m heddle`'),
    ('other threads, `fork`, `dlopen`, Fortran', '__kmpc_*', 'foreign_* fork_* dlopen_* fortran_*', ''),
]
LISTS = {'clang, Intel': ('libomp', 'libiomp5'), 'gcc': ('libgomp',)}


def names_of(lists):
    names = set()
    for one in lists:
        with open(os.path.join(SYMBOLS, one + '.txt'), encoding='utf-8') as f:
            names |= {line.strip() for line in f if line.strip() and not line.startswith('#')}
    return names


def defined_by(library):
    listed = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split('@')[0] for line in listed.splitlines()}


def row_of(name, column):
    plain = name[:-1] if column == 1 and name.endswith('_') else name  # Fortran's
    for number, row in enumerate(ROWS):
        if any(fnmatch.fnmatchcase(plain, pattern) for pattern in row[column].split()):
            return number
    raise SystemExit(f'{name}: no row of {os.path.basename(__file__)} is about it')


def table(library):
    there = defined_by(library)
    counts = [{abi: [0, 0] for abi in LISTS} for _ in ROWS]
    programs = [[] for _ in ROWS]
    for abi, lists in LISTS.items():
        for name in names_of(lists):
            count = counts[row_of(name, 1)][abi]
            count[0] += name in there
            count[1] += 1
    for file in sorted(os.listdir(PROGRAMS)):
        name, kind = os.path.splitext(file)
        if kind in ('.c', '.cpp', '.f90'):
            programs[row_of(name, 2)].append(name)
    lines = ['| area | names of clang and Intel | names of gcc | programs that check it | differences |',
             '| --- | --- | --- | --- | --- |']
    for row, count, checked in zip(ROWS, counts, programs):
        cells = [f'{n} of {m}' if m else '' for n, m in (count[abi] for abi in LISTS)]
        first = f'{len(checked)}: `{checked[0]}` ...' if len(checked) > 1 else f'`{checked[0]}`' if checked else ''
        lines.append(f'| {row[0]} | {cells[0]} | {cells[1]} | {first} | {row[3]} |')
    return lines


def page(library):
    return '\n'.join([
        '# The parts of OpenMP that heddle has', '',
        'The script `scripts/openmp_features.py` makes this page, and the test `omp_features_test` compares',
        "it. LLVM's, Intel's and GNU's runtimes define the names that are listed in `tests/omp/symbols`. The",
        'table counts how many names `libheddle_omp.so` has, and the programs of `tests/omp/programs` that',
        'check themselves on it. If a program calls a function that the library lacks, the dynamic linker',
        'names that function when the program starts.', '', *table(library), '',
        'The environment variables have a table of their own: [openmp_variables.md](openmp_variables.md).', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library')
    parser.add_argument('--write', action='store_true')
    given = parser.parse_args()
    now = page(given.library)
    if given.write:
        with open(PAGE, 'w', encoding='utf-8') as f:
            f.write(now)
        return 0
    with open(PAGE, encoding='utf-8') as f:
        if f.read() == now:
            return 0
    print(f'{os.path.relpath(PAGE, TOP)} is out of date: scripts/openmp_features.py {given.library} --write')
    return 1


if __name__ == '__main__':
    sys.exit(main())
