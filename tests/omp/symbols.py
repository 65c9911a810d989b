#!/usr/bin/env python3
"""symbols.py LIBRARY [--lists FOLDER]: which names of other OpenMP runtimes a library lacks.

Reads the lists of names in tests/omp/symbols (one name a line) and compares them with what LIBRARY defines. Names that
match a pattern of left_out.txt are knowingly left out; one that is there nevertheless is said, too, so that the list
stays true. Exit status 1: some name lacks."""
import argparse
import fnmatch
import pathlib
import subprocess
import sys


def names_in(file):
    return [line.strip() for line in file.read_text().splitlines() if line.strip() and not line.startswith('#')]


def defined_by(library):
    listed = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split('@')[0] for line in listed.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library')
    parser.add_argument('--lists', type=pathlib.Path, default=pathlib.Path(__file__).parent / 'symbols')
    given = parser.parse_args()
    there = defined_by(given.library)
    left_out = names_in(given.lists / 'left_out.txt')
    lacking = 0
    for file in sorted(given.lists.glob('*.txt')):
        if file.name == 'left_out.txt':
            continue
        names = sorted(set(names_in(file)))
        known = [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in left_out)]
        lacks = [n for n in names if n not in there and n not in known]
        print(f'{file.stem}: {len(names)} names, {len(names) - len(known) - len(lacks)} there, '
              f'{len(known)} left out, {len(lacks)} lacking')
        for name in lacks:
            print(f'  lacks {name}')
        for name in (n for n in known if n in there):
            print(f'  {name} is there, though left_out.txt says that it is not')
        lacking += len(lacks)
    return 1 if lacking else 0


if __name__ == '__main__':
    sys.exit(main())
