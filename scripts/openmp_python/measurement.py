"""Times of programs.py on packages' own runtimes and on heddle, runtimes in turns.

Programs of one package with the same numbers of threads share a process, since to load a package takes seconds.
"""
import dataclasses
import json
import os
import statistics

import limited_run

from . import comparison

HERE = os.path.dirname(os.path.abspath(__file__))

# glibc's malloc gives large arrays back to the kernel or keeps them, by where in its heap they happen to lie, so that one
# process meets thousands of page faults in each computation and the next one none, on any runtime. So it keeps them.
KEEPING_MEMORY = {'MALLOC_MMAP_THRESHOLD_': str(1 << 25), 'MALLOC_TRIM_THRESHOLD_': str(1 << 32), 'MALLOC_TOP_PAD_': str(1 << 26)}


@dataclasses.dataclass(frozen=True)
class Program:
    name: str        # in programs.py
    package: str
    outer: int       # threads of Python that compute it at a time
    threads: int     # OMP_NUM_THREADS of each

    @property
    def kind(self):
        return self.package, self.outer, self.threads

    @property
    def title(self):
        return f'{self.name} {self.outer}x{self.threads}'


def programs(processors):
    p = processors
    flat = [Program(name, 'sklearn', 1, p) for name in ('boosting', 'small_boosting', 'k_means', 'neighbours', 'components')]
    flat += [Program(name, 'torch', 1, p) for name in ('products', 'elements', 'training', 'images')]
    flat += [Program('blas', 'numpy', 1, p)]
    crowded = [Program(name, 'sklearn', 1, n * p) for name in ('boosting', 'small_boosting', 'k_means') for n in (2, 4)]
    crowded += [Program(name, 'torch', 1, n * p) for name in ('training', 'images') for n in (2, 4)]
    nested = [Program(name, 'sklearn', 2 * p, n * p) for name in ('boosting', 'small_boosting', 'k_means', 'components')
              for n in (1, 2)]
    nested += [Program(name, 'torch', 2 * p, p) for name in ('training', 'images')]
    return flat + crowded + nested


def once(those, python, runtime, given):
    """Of programs of one kind: {name: what it told}; of one that failed, hung or came after such a one, nothing."""
    words = [*runtime.before, python, *runtime.after, os.path.join(HERE, 'programs.py'), ','.join(p.name for p in those),
             str(those[0].outer), str(given.repeat)]
    environment = {**comparison.environment(those[0].threads), **KEEPING_MEMORY}
    ended = limited_run.run(words, given.limit, environment, stacks=False)
    lines = [json.loads(line) for line in ended.output.splitlines() if line.startswith('{')]
    return {one['name']: one for one in lines}


def measure(given, python, chosen, matches, keep):
    wanted = [p for p in programs(len(os.sched_getaffinity(0))) if any(m in p.title for m in matches)
              and comparison.has(python, p.package)]
    if not wanted:
        print('none of the packages is in', given.environment)
        return 77
    got = {(p.title, r.name): [] for p in wanted for r in chosen}
    bad, table = 0, []
    kinds = list(dict.fromkeys(p.kind for p in wanted))
    for turn in range(given.rounds):
        for kind in kinds:
            those = [p for p in wanted if p.kind == kind]
            for runtime in chosen if turn % 2 == 0 else reversed(chosen):
                told = once(those, python, runtime, given)
                for program in those:
                    if program.name in told:
                        got[program.title, runtime.name].append(told[program.name])
        table, bad = table_of(wanted, chosen, got, turn + 1)
        keep({'what': 'seconds', 'rounds': turn + 1, 'found': table})
    show(table)
    return 1 if bad else 0


def table_of(wanted, chosen, got, rounds):
    table, bad = [], 0
    for program in wanted:
        row, values = {'program': program.title, 'package': program.package}, []
        for runtime in chosen:
            runs = got[program.title, runtime.name]
            one = {'runs': len(runs), 'lost': rounds - len(runs)}
            bad += one['lost']
            if runs:
                one.update(median=statistics.median(s for r in runs for s in r['seconds']),
                           least=min(s for r in runs for s in r['seconds']),
                           processor=statistics.median(s for r in runs for s in r['processor']),
                           samples=[round(s, 5) for r in runs for s in r['seconds']])
                values += [r['value'] for r in runs]
            row[runtime.name] = one
        # Sums of threads may be added in another order; PyTorch computes with 24 bits.
        row['same'] = all(abs(v - values[0]) <= 1e-3 * abs(values[0]) for v in values)
        bad += not row['same']
        table.append(row)
    return table, bad


def show(table):
    print('| program | own: s (processor) | heddle: s (processor) | heddle / own | |\n| --- | ---: | ---: | ---: | --- |')
    for row in table:
        own, heddle = row['own'], row['heddle']
        if 'median' not in own or 'median' not in heddle:
            print(f'| {row["program"]} | lost {own["lost"]} | lost {heddle["lost"]} | | |')
            continue
        print(f'| {row["program"]} | {own["median"]:.3f} ({own["processor"]:.3f}) | {heddle["median"]:.3f} '
              f'({heddle["processor"]:.3f}) | {heddle["median"] / own["median"]:.2f} | {"" if row["same"] else "other numbers"} |')
