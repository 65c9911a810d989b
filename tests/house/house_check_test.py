#!/usr/bin/env python3
"""Each rule of scripts/house_check.py finds a fault that was planted for it, and nothing in a tree without one."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts'))
sys.dont_write_bytecode = True
import house_check  # noqa: E402

RIGHT = {
    'CONTRIBUTING.md': '| `src/base` | x |\n| `src/queue` | x |\n| `src/worker` | x |\n| `src/trace` | x |\n',
    'src/base/bits.hpp': 'int bits();\n',
    'src/queue/queue.cpp': '#include "base/bits.hpp"\n#include "trace/emit.hpp"\n',
    'src/trace/emit.hpp': '#include "base/bits.hpp"\n',
    'src/trace/events.def': 'HEDDLE_EVENT(fork, point, "a fork")\nHEDDLE_EVENT(cpu_time, point, "time")\n',
    'src/worker/worker.cpp': '// The last look: [sleep:2].\nvoid f() { trace::emit<trace::event::fork>(ring); }\n',
    'src/trace/ring.cpp': 'void g() { put(event::cpu_time, 1); }\n',
    'src/worker/README.md': '# Sleep\n- **[sleep:1]** First `queue_length`, in `queue/queue.cpp`.\n- **[sleep:2]** Then, after [sleep:1], look.\n',
    'src/queue/length.cpp': 'int queue_length();\n',
    'docs/design/words.md': '| word | meaning |\n| --- | --- |\n| `line` | a line |\n| line (sim) | a cache line |\n\n'
                            '| not | but | except in |\n| --- | --- | --- |\n| guest, guests | helper | src/worker |\n',
    'src/worker/host.cpp': '// A guest, where the word has its usual meaning.\n',
}


class Rules(unittest.TestCase):
    def found(self, rule, changes, *extra):
        with tempfile.TemporaryDirectory() as root:
            for file, text in {**RIGHT, **changes}.items():
                path = os.path.join(root, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(text)
            return [what for _, _, what in rule(house_check.Tree(root), *[e(root) for e in extra])]

    def finds(self, rule, file, text, what):
        self.assertEqual(self.found(rule, {}), [])
        found = self.found(rule, {file: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(what, found[0])

    def test_an_include_that_goes_up(self):
        self.finds(house_check.check_floors, 'src/base/up.cpp', '#include "queue/queue.hpp"\n', 'a floor above it')

    def test_trace_stands_on_the_lowest_floors_alone(self):
        self.finds(house_check.check_floors, 'src/trace/up.cpp', '#include "worker/worker.hpp"\n', 'a floor above it')

    def test_a_folder_that_is_no_floor(self):
        self.finds(house_check.check_floors, 'src/other/a.cpp', '\n', 'no row of the map')

    def test_a_word_with_two_meanings(self):
        page = RIGHT['docs/design/words.md']
        self.finds(house_check.check_words, 'docs/design/words.md', page.replace('line (sim)', 'Line'), 'line has a meaning in line 3 already')

    def test_a_list_of_words_elsewhere(self):
        self.finds(house_check.check_words, 'src/queue/words.md', '| word | meaning |\n| --- | --- |\n', 'a list of words')

    def test_a_word_that_is_not_used(self):
        self.finds(house_check.check_words, 'src/queue/a.cpp', '// Two guests.\nint guest_count;\n', 'guests: the word is helper')

    def test_an_event_that_nobody_emits(self):
        self.finds(house_check.check_events, 'src/trace/events.def', RIGHT['src/trace/events.def'] + 'HEDDLE_EVENT(join, point, "a")\n',
                   'join is emitted nowhere')

    def test_a_label_that_is_not_defined(self):
        self.finds(house_check.check_labels, 'src/queue/a.cpp', '// [sleep:3]\n', '[sleep:3] is defined nowhere')

    def test_a_label_that_is_defined_twice(self):
        self.finds(house_check.check_labels, 'src/queue/README.md', '- **[sleep:1]** Again.\n', 'defined in src/queue/README.md:1 already')

    def test_long_lines(self):
        self.finds(house_check.check_columns, 'src/queue/a.cpp', '// ' + 'x ' * 60 + '\n', 'more than 120')
        self.finds(house_check.check_columns, 'docs/a.md', 'x ' * 60 + '\n', 'more than 100')
        free = '| ' + 'x ' * 80 + '|\n```\n' + 'x ' * 80 + '\n```\n[x](' + 'x' * 120 + ')\n'
        self.assertEqual(self.found(house_check.check_columns, {'docs/a.md': free}), [])

    def test_a_mutant_that_does_not_apply(self):
        patch = '--- a/src/queue/length.cpp\n+++ b/src/queue/length.cpp\n@@ -1,1 +1,1 @@\n-int {}();\n+long {}();\n'
        right = {'tests/mutants/right.patch': patch.format('queue_length', 'queue_length')}
        self.assertEqual(self.found(house_check.check_patches, right), [])
        self.finds(house_check.check_patches, 'tests/mutants/old.patch', patch.format('length_of', 'length_of'),
                   'does not apply to src/queue/length.cpp')

    def test_a_name_that_exists_nowhere(self):
        self.finds(house_check.check_names, 'docs/a.md', 'Call `queue_lenght()`.\n', 'queue_lenght exists nowhere')
        self.finds(house_check.check_names, 'docs/a.md', 'See `src/queue/gone.cpp`.\n', 'no such file')
        self.finds(house_check.check_names, 'docs/a.md', 'Set `HEDDLE_NO_SUCH`.\n', 'HEDDLE_NO_SUCH exists nowhere')

    def test_a_symbol_that_goes_up(self):
        def objects(folder_of_caller):
            def build(root):
                for folder, text in (('worker', 'void above() {}'), (folder_of_caller, 'void above(); void below() { above(); }')):
                    out = os.path.join(root, 'build/CMakeFiles/heddle_core.dir/src', folder)
                    os.makedirs(out, exist_ok=True)
                    subprocess.run([os.environ.get('CXX', 'c++'), '-x', 'c++', '-c', '-', '-o', os.path.join(out, f'{len(text)}.o')],
                                   input=text, text=True, check=True)
                return os.path.join(root, 'build')
            return build
        ties = len(house_check.TIES)
        up = self.found(house_check.check_symbols, {}, objects('queue'))
        self.assertEqual([what for what in up if 'take it out of TIES' not in what], ['needs above() of src/worker, which is a floor above it'])
        down = self.found(house_check.check_symbols, {}, objects('worker'))
        self.assertEqual(len(down), ties, 'ties that are not there any more are told')
        self.assertIn('no object files', self.found(house_check.check_symbols, {}, lambda root: root + '/build')[0])

    @unittest.skipUnless(os.environ.get('CLANG_FORMAT'), 'no clang-format')
    def test_a_file_that_clang_format_would_change(self):
        check = lambda tree: house_check.check_format(tree, os.environ['CLANG_FORMAT'])
        style = {'.clang-format': 'BasedOnStyle: Google\n'}
        self.assertEqual(self.found(check, {**style, 'src/worker/worker.cpp': '\n'}), [])
        found = self.found(check, {**style, 'src/worker/worker.cpp': '\n', 'src/queue/a.cpp': 'int   a;\n'})
        self.assertIn('would change it', found[0])

    def test_the_command(self):
        script = house_check.__file__
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, 'docs'))
            with open(os.path.join(root, 'docs/a.md'), 'w', encoding='utf-8') as f:
                f.write('x ' * 60 + '\n')
            told = subprocess.run([sys.executable, script, '--root', root, 'columns'], capture_output=True, text=True)
            self.assertEqual(told.returncode, 1)
            self.assertIn('docs/a.md:1: 120 columns, more than 100 [columns]', told.stdout)
            self.assertEqual(subprocess.run([sys.executable, script, '--root', root, 'labels'], capture_output=True).returncode, 0)
        wrong = subprocess.run([sys.executable, script, 'colums'], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('no rule colums; there are floors,', wrong.stderr)


if __name__ == '__main__':
    unittest.main()
