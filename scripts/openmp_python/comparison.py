"""Runs packages' own tests on their own runtime and on heddle, and compares them test by test."""
import dataclasses
import json
import os
import subprocess
import tempfile

import limited_run

HERE = os.path.dirname(os.path.abspath(__file__))
RIGHT = ('passed', 'expected failure', 'unexpected pass', 'skipped')
CRASHES = 8   # after so many in one suite the rest is left


@dataclasses.dataclass
class Runtime:
    """How Python is started: on the packages' own runtimes, by `heddle run`, or by `python -m heddle`."""
    name: str
    before: tuple = ()    # words in front of the interpreter
    after: tuple = ()     # words behind it


def runtimes(python, build):
    known = [Runtime('own'), Runtime('heddle', before=(os.path.join(build, 'heddle'), 'run', '--'))]
    has_wheel = subprocess.run([python, '-c', 'import heddle'], capture_output=True, check=False, cwd='/').returncode == 0
    if has_wheel:
        known.append(Runtime('module', after=('-m', 'heddle')))
    return {r.name: r for r in known}


def environment(threads, **more):
    e = {k: v for k, v in os.environ.items() if not k.startswith(('OMP_', 'KMP_', 'GOMP_', 'MKL_', 'LD_PRELOAD', 'PYTHON'))}
    e.update(OMP_NUM_THREADS=str(threads), PYTHONDONTWRITEBYTECODE='1', PYTHONPATH=HERE, PYTHONHASHSEED='0', **more)
    return e


def has(python, package):
    return subprocess.run([python, '-c', f'import {package}'], capture_output=True, check=False, cwd='/').returncode == 0


@dataclasses.dataclass
class Outcomes:
    by_test: dict = dataclasses.field(default_factory=dict)   # identifier: outcome
    seconds: float = 0
    told: list = dataclasses.field(default_factory=list)      # of crashes and hangs: what the process said, and its stacks

    def count(self, which):
        return sum(1 for o in self.by_test.values() if o in which)


def read(name):
    """({identifier: outcome}, the one that had begun and did not end)"""
    found, running = {}, None
    with open(name, encoding='utf-8') as f:
        for line in f:
            identifier, outcome, *_ = json.loads(line)
            if outcome == 'begun':
                running = identifier
            else:
                if found.get(identifier, 'passed') in RIGHT:   # a failure in the test stays, whatever its tear-down says
                    found[identifier] = outcome
    return found, running if running not in found else None


def run_suite(suite, python, runtime, options, only=()):
    """All tests of a suite, or `only` these; after a crash or a hang the others in a new process."""
    all_of_it = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        left_out, file = os.path.join(folder, 'left_out'), os.path.join(folder, 'outcomes')
        for _ in range(CRASHES):
            with open(left_out, 'w', encoding='utf-8') as f:
                f.write('\n'.join(all_of_it.by_test))
            open(file, 'w', encoding='utf-8').close()
            words = [*runtime.before, python, *runtime.after, '-m', 'pytest', '-q', '-p', 'outcomes', '-p', 'no:cacheprovider',
                     '-p', 'no:randomly', '--tb=short', '--no-header', '-W', 'ignore', '--rootdir', folder, *suite.options]
            words += ['--pyargs', *suite.tests]
            if only:
                words += ['-k', ' or '.join(sorted({o.rpartition('::')[2].partition('[')[0] for o in only}))]
            ended = limited_run.run(words, options.limit, environment(options.threads, HEDDLE_OUTCOMES=file,
                                                                      HEDDLE_LEFT_OUT=left_out), folder)
            found, running = read(file)
            all_of_it.by_test.update(found)
            all_of_it.seconds += ended.seconds
            if running is None and not ended.late and ended.status >= 0:
                if not found and ended.status not in (0, 5):
                    all_of_it.told.append(ended.output[-3000:])
                return all_of_it
            at = running or 'end of the process'
            all_of_it.by_test[at] = ended.outcome
            all_of_it.told.append(f'{at}: {ended.outcome}\n{ended.output[-3000:]}\n{ended.stacks}')
            if running is None:
                return all_of_it
    return all_of_it


def worse(own, heddle):
    """What is right on its own runtime and not on heddle: {identifier: outcome}."""
    bad = {}
    for test, outcome in own.by_test.items():
        if outcome in RIGHT and heddle.by_test.get(test, 'not run') not in RIGHT:
            bad[test] = heddle.by_test.get(test, 'not run')
    bad.update({t: o for t, o in heddle.by_test.items() if t not in own.by_test and o not in RIGHT})
    return bad


def compare(suite, python, chosen, options):
    """{runtime: Outcomes}, and {runtime: {test: outcome}} of what stays worse when it is repeated."""
    outcomes = {r.name: run_suite(suite, python, r, options) for r in chosen}
    stays = {}
    own = outcomes['own']
    for r in chosen[1:]:
        bad = worse(own, outcomes[r.name])
        counted = {}
        for _ in range(options.again if bad else 0):
            beside = run_suite(suite, python, chosen[0], options, bad)
            again = run_suite(suite, python, r, options, bad)
            for test in bad:
                row = counted.setdefault(test, {'own': 0, r.name: 0, 'of': options.again, 'outcome': bad[test]})
                row['own'] += beside.by_test.get(test) in RIGHT
                row[r.name] += again.by_test.get(test) in RIGHT
        stays[r.name] = counted
    return outcomes, stays
