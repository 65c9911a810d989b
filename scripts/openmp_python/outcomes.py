"""A plugin of pytest (-p outcomes): writes each test's outcome the moment it is known, so that a crash or a hang says where.

HEDDLE_OUTCOMES  the file, a line of JSON each: [identifier, 'begun'], then [identifier, outcome, seconds]
HEDDLE_LEFT_OUT  a file of identifiers, one a line, that are not run (again)
"""
import json
import os


def told(*words):
    with open(os.environ['HEDDLE_OUTCOMES'], 'a', encoding='utf-8') as f:
        f.write(json.dumps(words) + '\n')


def pytest_collection_modifyitems(items):
    name = os.environ.get('HEDDLE_LEFT_OUT')
    if name:
        with open(name, encoding='utf-8') as f:
            out = set(f.read().splitlines())
        items[:] = [item for item in items if item.nodeid not in out]


def pytest_runtest_logstart(nodeid):
    told(nodeid, 'begun')


def pytest_runtest_logreport(report):
    if report.when == 'call' or report.outcome != 'passed':  # set-up and tear-down count if they go wrong
        outcome = report.outcome
        if hasattr(report, 'wasxfail'):
            outcome = 'expected failure' if outcome == 'skipped' else 'unexpected pass'
        elif report.when != 'call' and outcome == 'failed':
            outcome = f'failed in {report.when}'
        told(report.nodeid, outcome, round(report.duration, 4))
