#!/usr/bin/env python3
"""What the house promises of its texts, checked. Prints `file:line: what is wrong`; the exit status is 1 if anything is.

usage: house_check.py [--root DIR] [--objects BUILD] [--format CLANG_FORMAT] [RULE...]

  floors   an include in src/ goes up a floor (the floors are the rows of CONTRIBUTING.md's map, lowest first)
  symbols  an object file of src/ needs a symbol of a floor above it; needs --objects
  events   an event of src/trace/events.def is emitted nowhere
  labels   a label such as [sleep:4] is cited but not defined in a Markdown file of src/, omp/, tools/ or bench/, or defined twice
  columns  a line of code is longer than 120 columns, a line of prose longer than 100
  names    a document has a name in code font that exists nowhere, or a path to no file
  words    docs/design/words.md has a word twice, another page has a list of words, or a text has a word of that page's last table
  patches  a mutant (tests/**/*.patch) does not apply any more
  format   clang-format would change a file; needs --format
"""
import argparse
import collections
import os
import re
import subprocess
import sys

CODE = ('.cpp', '.hpp', '.h', '.c')
CODE_COLUMNS = 120
PROSE_COLUMNS = 100
# All floors may call trace; trace itself stands on these.
BELOW_TRACE = {'base', 'arch', 'platform', 'sync', 'machine', 'trace'}
# Symbols that go up today, and are to go: docs/decisions/0008-house-check.md. One that does not any more is an error, too.
TIES = {
    ('arch', 'heddle_depart'): 'where a context goes when its entry function has returned',
}
# Names of other systems, which documents may mention.
FOREIGN = re.compile(r'^(OMP|KMP|GOMP|CILK|LD|MALLOC|CMAKE|GTEST|SO|RLIMIT|SIG|MADV|PR|SCHED|_MM|FE|PRIVATE|XDG|PATH|PKG|DEB)_'
                     r'|^(omp|kmp|pthread|cilk|__cilk|sem|io|tbb|posix|std|getenv|MPI|jemalloc|libunwind|shm|dl|rt|timer|ABT|abt)_?')


class Tree:
    """The files of a checkout, or of a folder that is none."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.text_of = {}
        if os.path.exists(os.path.join(self.root, '.git')):
            listed = subprocess.run(['git', '-C', self.root, 'ls-files', '--cached', '--others', '--exclude-standard'],
                                    capture_output=True, text=True, check=True).stdout.split('\n')
            self.files = sorted(f for f in set(listed) if f and os.path.isfile(os.path.join(self.root, f)))
        else:
            self.files = sorted(os.path.relpath(os.path.join(folder, f), self.root)
                                for folder, folders, files in os.walk(self.root)
                                if not folders.sort() for f in files
                                if not {'build', 'node_modules', '.git'} & set(os.path.relpath(folder, self.root).split(os.sep)))

    def text(self, file):
        if file not in self.text_of:
            with open(os.path.join(self.root, file), encoding='utf-8', errors='replace') as f:
                self.text_of[file] = f.read()
        return self.text_of[file]

    def lines(self, file):
        return enumerate(self.text(file).split('\n'), 1)

    def having(self, *suffixes, under=''):
        return [f for f in self.files if f.endswith(suffixes) and f.startswith(under)]


def floors_of(tree):
    """{floor: height}, the lowest 0."""
    rows = re.findall(r'(?m)^\| `src/([a-z]+)` \|', tree.text('CONTRIBUTING.md'))
    return {floor: height for height, floor in enumerate(f for f in rows if f != 'trace')}


def goes_up(floors, here, there):
    if here == there or there == 'trace':
        return False
    if here == 'trace':
        return there not in BELOW_TRACE
    return floors.get(there, -1) > floors.get(here, -1)


def check_floors(tree):
    floors = floors_of(tree)
    for file in tree.having('.cpp', '.hpp', under='src/'):
        here = file.split('/')[1]
        if here not in floors and here != 'trace':
            yield file, 1, f'src/{here} is no row of the map in CONTRIBUTING.md'
            continue
        for number, line in tree.lines(file):
            found = re.match(r'\s*#\s*include\s+"([a-z]+)/', line)
            if found and goes_up(floors, here, found.group(1)):
                yield file, number, f'src/{here} includes a header of src/{found.group(1)}, which is a floor above it'


def symbols_of(objects):
    """For each object file: the floor, what it defines, what it needs (demangled)."""
    for folder, _, files in os.walk(objects):
        for file in sorted(files):
            floor = re.search(r'/heddle_(?:common|core|policy|platform_linux)\.dir/(?:src/|Unity/unity_src_)([a-z]+)',
                              os.path.join(folder, file))
            if floor and file.endswith('.o'):
                listed = subprocess.run(['nm', '-C', os.path.join(folder, file)], capture_output=True, text=True, check=True).stdout
                table = [re.match(r'[0-9a-f ]{16} (\S) (.*)', line) for line in listed.split('\n')]
                table = [(m.group(1), m.group(2)) for m in table if m]
                yield (file, floor.group(1), {n for kind, n in table if kind in 'TDBRGS'}, {n for kind, n in table if kind == 'U'})


def check_symbols(tree, objects):
    floors = floors_of(tree)
    table = list(symbols_of(objects))
    if not table:
        yield objects, 0, 'no object files of src/ here: build first'
    home = {name: floor for _, floor, defined, _ in table for name in defined}
    met = set()
    for file, here, _, needed in table:
        for name in sorted(needed & home.keys()):
            if goes_up(floors, here, home[name]):
                met.add((here, name))
                if (here, name) not in TIES:
                    yield f'src/{here}/{file}', 0, f'needs {name} of src/{home[name]}, which is a floor above it'
    for here, name in sorted(TIES.keys() - met if table else []):
        yield 'scripts/house_check.py', 0, f'src/{here} does not need {name} any more: take it out of TIES'


def check_events(tree):
    list_of_events = 'src/trace/events.def'
    emitted = set()
    writers = tree.having('.cpp', '.hpp', under='src/') + tree.having('.hpp', under='include/')
    for file in writers + tree.having('.cpp', under='omp/'):
        emitted |= set(re.findall(r'\b(?:emit<|put\(|write\(self, )\s*(?:[a-z]+::)*event::([a-z_]+)', tree.text(file)))
    for number, line in tree.lines(list_of_events):
        event = re.match(r'HEDDLE_EVENT\((\w+),', line)
        if event and event.group(1) not in emitted:
            yield list_of_events, number, f'{event.group(1)} is emitted nowhere'


LABEL = r'\[([a-z_]+:\d+[a-z]?)\]'


def check_labels(tree):
    defined = collections.defaultdict(list)
    for file in [f for folder in ('src/', 'omp/', 'tools/', 'bench/') for f in tree.having('.md', under=folder)]:
        for number, line in tree.lines(file):
            found = re.match(r'\s*(?:[-*] |\d+\. )?\*\*' + LABEL, line)
            if found:
                defined[found.group(1)].append((file, number))
    for label, places in defined.items():
        for file, number in places[1:]:
            yield file, number, f'[{label}] is defined in {places[0][0]}:{places[0][1]} already'
    past = ('docs/investigations/', 'docs/decisions/', 'CHANGELOG.md', 'tests/house/', 'scripts/house_check.py')
    for file in tree.having(*CODE, '.S', '.md', '.cmake', '.def'):
        for number, line in tree.lines(file) if not file.startswith(past) else []:
            for label in re.findall(LABEL, line):
                if label not in defined:
                    yield file, number, f'[{label}] is defined nowhere'


def check_columns(tree):
    for file in tree.having(*CODE):
        raw = False  # within a raw string, which may not be broken
        for number, line in tree.lines(file):
            raw = raw or bool(re.search(r'R"\w*\(', line))
            if len(line) > CODE_COLUMNS and not raw and not re.search(r'"[^"]{80,}"|https?://', line):
                yield file, number, f'{len(line)} columns, more than {CODE_COLUMNS}'
            raw = raw and not re.search(r'\)\w*"', line)
    for file in tree.having('.md'):
        fenced = False
        generated = 'Generated:' in tree.text(file)[:400]
        for number, line in tree.lines(file) if not generated else []:
            fenced ^= line.lstrip().startswith('```')
            plain = re.sub(r'\]\([^)]*\)|https?://\S+', '', line)  # where a link leads
            if len(plain) > PROSE_COLUMNS and not fenced and not line.startswith(('|', '    ', '```')):
                yield file, number, f'{len(line)} columns, more than {PROSE_COLUMNS}'


def check_patches(tree):
    for file in tree.having('.patch', under='tests/'):
        tried = subprocess.run(['patch', '--dry-run', '--batch', '--force', '-p1', '-i', os.path.join(tree.root, file)],
                               cwd=tree.root, capture_output=True, text=True)
        if tried.returncode != 0:
            yield file, 1, 'does not apply to ' + ', '.join(re.findall(r'(?m)^\+\+\+ b/(\S+)', tree.text(file)))


def check_names(tree):
    sources = [f for f in tree.files if not f.endswith(('.md', '.json', '.html', '.lock')) and not f.startswith('report/')]
    known = set(re.findall(r'\w+', '\n'.join(tree.text(f) for f in sources)))
    known |= {part for f in tree.files for part in re.findall(r'\w+', f)}
    known |= {re.sub(r'tests/(\w+)/mutants/(\w+)/(\w+)\.patch', r'\1_\2_without_\3', f) for f in tree.having('.patch')}
    areas = {f.split('/')[1] for f in tree.having('_test.cpp', under='tests/')}
    past = ('docs/investigations/', 'docs/decisions/', 'CHANGELOG.md')
    migration = re.compile(r'docs/guide/from_')
    for file in tree.having('.md'):
        fenced = False
        for number, line in tree.lines(file) if not file.startswith(past) else []:
            fenced ^= line.lstrip().startswith('```')
            for text in re.findall(r'`([^`]+)`', line) if not fenced else []:
                path = re.fullmatch(r'[\w./-]+/[\w.-]+\.(?:cpp|hpp|md|sh|py|toml|cmake|def)', text)
                if path and not path.group().startswith(('build/', '/', 'path/')):
                    places = [path.group(), 'src/' + path.group(), 'include/heddle/' + path.group(), 'include/' + path.group(),
                              os.path.normpath(os.path.join(os.path.dirname(file), path.group()))]
                    if not any(p in tree.files for p in places):
                        yield file, number, f'`{text}`: no such file'
                    continue
                own = re.sub(r'\bstd(::\w+)+', '', text)
                for word in re.findall(r'[A-Za-z_]\w{2,}', own) if not migration.match(file) else []:
                    word = re.sub(r'^D(?=HEDDLE_)', '', word)
                    option = re.sub(r'^HEDDLE_', '', word).lower()
                    area = re.sub(r'^tests_|_tests?$', '', word)
                    if '_' in word.strip('_') and not FOREIGN.match(word) and not {word, option, area} & known \
                            and not any(area.startswith(p + '_') and area[len(p) + 1:] in known for p in areas) \
                            and not any(k.startswith(word) or k.endswith(word) for k in known if text.count('*')):
                        yield file, number, f'`{text}`: {word} exists nowhere'


WORDS = 'docs/design/words.md'
# Where the words of its last table are not used.
SPEAKING = ('src/', 'include/', 'omp/', 'tools/', 'cli/', 'docs/guide/', 'docs/design/')


def check_words(tree):
    if WORDS not in tree.files:
        return
    meaning, avoided = {}, []
    in_table = None
    for number, line in tree.lines(WORDS):
        cells = [c.strip() for c in line.strip().strip('|').split('|')] if line.startswith('|') else []
        if not cells:
            in_table = None
        elif in_table is None:
            in_table = cells[0]
        elif set(cells[0]) <= {'-'}:
            pass
        elif in_table == 'word':
            word = cells[0].strip('`').lower()
            if word in meaning:
                yield WORDS, number, f'{word} has a meaning in line {meaning[word]} already'
            meaning.setdefault(word, number)
        elif in_table == 'not':
            instead, but_in = cells[1], tuple(w.strip() for w in cells[2].split(',') if w.strip())
            avoided += [(re.compile(rf'(?<![\w-]){re.escape(w.strip())}(?![\w-])', re.IGNORECASE), w.strip(), instead, but_in)
                        for w in cells[0].split(',')]
    for file in tree.having('.md', *CODE):
        if file == WORDS or not file.startswith((*SPEAKING, 'sim/', 'bench/')):
            continue
        for number, line in tree.lines(file):
            if file.endswith('.md') and re.match(r'## Words\b|\| [Ww]ord \| [Mm]eaning', line):
                yield file, number, f'a list of words: it belongs into {WORDS}'
            for pattern, word, instead, but_in in avoided if file.startswith(SPEAKING) and not file.endswith('.c') else []:
                if not file.startswith(but_in or ('\0',)) and pattern.search(line):
                    yield file, number, f'{word}: the word is {instead} ({WORDS})'


def check_format(tree, clang_format):
    files = [os.path.join(tree.root, f) for f in tree.having(*CODE)]
    result = subprocess.run([clang_format, '--dry-run', '-Werror', *files], capture_output=True, text=True, cwd=tree.root)
    for line in result.stderr.split('\n'):
        found = re.match(r'(.*?):(\d+):\d+: error: ', line)
        if found:
            yield os.path.relpath(found.group(1), tree.root), int(found.group(2)), f'{os.path.basename(clang_format)} would change it'


def main():
    rules = {'floors': check_floors, 'symbols': check_symbols, 'events': check_events, 'labels': check_labels,
             'columns': check_columns, 'names': check_names, 'words': check_words, 'patches': check_patches,
             'format': check_format}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--root', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    parser.add_argument('--objects', help='a build of preset release')
    parser.add_argument('--format', help='the program clang-format')
    parser.add_argument('rules', nargs='*', metavar='RULE', help='which (all that can be checked)')
    options = parser.parse_args()
    for rule in options.rules:
        if rule not in rules:
            parser.error(f'no rule {rule}; there are {", ".join(rules)}')
    extra = {'symbols': options.objects, 'format': options.format}
    chosen = options.rules or [rule for rule in rules if rule not in extra or extra[rule]]
    for rule in chosen:
        if rule in extra and not extra[rule]:
            parser.error(f'rule {rule} needs --{"objects" if rule == "symbols" else "format"}')
    tree = Tree(options.root)
    wrong = 0
    for rule in chosen:
        for file, number, what in rules[rule](tree, extra[rule]) if rule in extra else rules[rule](tree):
            print(f'{file}:{number}: {what} [{rule}]')
            wrong += 1
    print(f'{", ".join(chosen)}: {wrong} wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
