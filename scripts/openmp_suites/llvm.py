"""The tests of LLVM's runtime (openmp/runtime/test), by lit."""
import json
import os
import re
import subprocess

from . import common

NAME = 'llvm'


def source_of(options):
    """The folder runtime/test, of a checkout or of an unpacked source package."""
    for folder, folders, files in os.walk(options.suites):
        depth = os.path.relpath(folder, options.suites).count(os.sep)
        if folder.endswith(os.path.join('runtime', 'test')) and 'lit.site.cfg.in' in files:
            return folder
        if depth > 4:
            folders.clear()
    raise FileNotFoundError(f'no openmp/runtime/test below {options.suites}')


def version_of(compiler):
    told = subprocess.run([compiler, '--version'], capture_output=True, text=True, check=True).stdout
    return re.search(r'version (\d+)\.(\d+)\.(\d+)', told).groups()


def build(options, runtime):
    """A lit.site.cfg; the tests are compiled when they are run."""
    source = source_of(options)
    target = os.path.join(options.work, f'{NAME}-{runtime.name}')
    os.makedirs(target, exist_ok=True)
    resources = subprocess.run([runtime.compiler, '-print-resource-dir'], capture_output=True, text=True, check=True).stdout
    major, minor, patch = version_of(runtime.compiler)
    features = ['clang', f'clang-{major}', f'clang-{major}.{minor}', f'clang-{major}.{minor}.{patch}']
    system = os.path.join(resources.strip(), '..', '..')
    plus = os.path.join(os.path.dirname(runtime.compiler), os.path.basename(runtime.compiler).replace('clang', 'clang++'))
    values = {
        'test_c_compiler': runtime.compiler, 'test_cxx_compiler': plus, 'test_compiler_features': features,
        'test_compiler_has_omp_h': True, 'test_filecheck': os.path.join(options.tools, 'FileCheck'),
        'test_not': os.path.join(options.tools, 'not'), 'test_openmp_flags': '-fopenmp', 'test_extra_flags': '',
        'libomp_obj_root': target, 'library_dir': os.path.abspath(runtime.library or system),
        'omp_header_directory': os.path.join(resources.strip(), 'include'), 'operating_system': 'Linux',
        'hwloc_library_dir': '', 'using_hwloc': False, 'has_ompt': True, 'has_ompx_taskgraph': False, 'has_libm': True,
        'has_libatomic': True, 'is_standalone_build': True, 'has_omit_frame_pointer_flag': True,
        'target_arch': os.uname().machine,
    }
    with open(os.path.join(target, 'lit.site.cfg'), 'w', encoding='utf-8') as f:
        f.writelines(f'config.{key} = {value!r}\n' for key, value in values.items())
        f.write('threads = lit_config.params.get("threads")\n'
                'if threads:\n    config.environment["OMP_NUM_THREADS"] = threads\n')
        f.write(f'lit_config.load_config(config, {os.path.join(source, "lit.cfg")!r})\n')
    return target


# They use half of the threads that there are as a rule, and want to see more than one: on fewer than four processors
# they fail on any runtime. There they are run again with OMP_NUM_THREADS=4.
WANT_FOUR = re.compile(r'worksharing/for/omp_collapse_')


def run(options, runtime):
    if runtime.kind != 'clang':
        return {}
    target = build(options, runtime)
    outcomes = run_lit(options, runtime, target, options.match, [])
    few = [t for t, o in outcomes.items() if o == 'fail' and WANT_FOUR.search(t)]
    if few and (os.cpu_count() or 1) < 4:
        again = run_lit(options, runtime, target, '|'.join(map(re.escape, few)), ['--param', 'threads=4'])
        outcomes.update({t: again[t] for t in few if t in again})
    return outcomes


def run_lit(options, runtime, target, match, more):
    result = os.path.join(target, 'result.json')
    if os.path.exists(result):
        os.remove(result)
    words = [options.lit, '-q', '-j', str(options.jobs), '--timeout', str(int(options.limit)), '--output', result]
    if options.most:
        words += ['--max-time', str(options.most)]
    if match:
        words += ['--filter', match]
    words += more
    environment = {k: v for k, v in common.environment_for(runtime, options).items() if k != 'OMP_NUM_THREADS'}
    with open(os.path.join(target, 'lit.log'), 'a' if more else 'w', encoding='utf-8') as log:
        subprocess.run([*words, target], stdout=log, stderr=subprocess.STDOUT, env=environment, check=False)
    if not os.path.exists(result):
        raise RuntimeError(f'lit wrote no result; see {target}/lit.log')
    outcomes = {'PASS': 'pass', 'XFAIL': 'pass', 'UNSUPPORTED': 'skipped', 'SKIPPED': 'skipped', 'TIMEOUT': 'hang'}
    with open(result, encoding='utf-8') as f:
        return {t['name'].split(' :: ')[-1]: outcomes.get(t['code'], t['code'].lower()) for t in json.load(f)['tests']}
