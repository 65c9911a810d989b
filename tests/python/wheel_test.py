#!/usr/bin/env python3
"""wheel_test.py --build BUILD [--packages [--threads 1,8]]: builds the wheel and uses it in a virtual environment.

Without --packages nothing is fetched: a library with OpenMP of this build tree stands for a package's. With it,
scikit-learn comes from an index and computes on heddle, nested in threads of joblib, too.
Exit status 77, with the reason: a virtual environment, or the index, is not to be had.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

COUNTS = """
import ctypes, sys, heddle
library = ctypes.CDLL({library!r})
print("active", heddle.is_active(), "members", library.members_of_region(), "arguments", sys.argv[1:], flush=True)
sys.exit(7)
"""

LEARNS = """
import numpy
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.ensemble import HistGradientBoostingRegressor
x, y = make_blobs(4000, centers=6, n_features=8, random_state=1)
def inertia(k):
    return KMeans(k, n_init=2, random_state=0).fit(x).inertia_
alone = [inertia(k) for k in (3, 6)]
beside = Parallel(2, backend="threading")(delayed(inertia)(k) for k in (3, 6))
numpy.testing.assert_allclose(alone, beside, rtol=1e-6)
score = HistGradientBoostingRegressor(max_iter=60).fit(x, y).score(x, y)
assert score > 0.9, score
print("learned", flush=True)
"""


class Skipped(Exception):
    pass


def check(condition, text):
    if not condition:
        raise SystemExit(f"not so: {text}")


def run(words, status=0, env=None, **more):
    e = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "HEDDLE_", "LD_", "PYTHON"))}
    done = subprocess.run(words, env={**e, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=500, **more)
    check(status is None or done.returncode == status, f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def environment_in(folder, wheel):
    python = os.path.join(folder, "bin", "python")
    made = subprocess.run([sys.executable, "-m", "venv", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if made.returncode != 0:
        raise Skipped(f"no virtual environment: {made.stdout.strip()[-300:]}")
    # From a copy of the source folder: what a build backend leaves behind stays out of the sources.
    run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel])
    return python


def without_packages(python, folder, build):
    library = glob.glob(os.path.join(build, "tests", "openmp", "libcli_openmp_library.so"))
    check(library, "the target cli_openmp_library is built")
    script = os.path.join(folder, "script.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(COUNTS.format(library=library[0]))
    heddle = [python, "-m", "heddle"]

    out = run([*heddle, "--workers", "2", script, "a", "--stats"], status=7)
    check("active True members 2 arguments ['a', '--stats']" in out, out)
    check(re.search(r"heddle run: python\S* may load OpenMP later", out), out)
    check("heddle: OpenMP: 1 regions" in out and "2 workers" in out, out)
    out = run([*heddle, "--stats", "-m", "script", "b"], status=7, cwd=folder)
    check("arguments ['b']" in out and "heddle: OpenMP: thread 0: 1 regions" in out, out)
    out = run([*heddle, "--policy=random_ws", "-c", "import sys; print(sys.argv[1:], 'code')", "c"])
    check("['c'] code" in out, out)
    check("from input" in run([*heddle, "-"], input="print('from input')"), "a program on standard input")
    check("-O" in run([python, "-O", "-m", "heddle", "-c", "import sys; print('-O' * sys.flags.optimize)"]), "-O is kept")
    out = run([python, "-c", "import heddle; print(heddle.is_active(), heddle.__version__)"])
    check(re.match(r"False \d+\.\d+", out), out)
    for words, text in ((["--polcy", "x"], "unknown option --polcy"), ([], "no program"), (["--workers"], "needs a value"),
                        (["absent.py"], "there is no file absent.py"), (["-m"], "needs a value")):
        check(text in run([*heddle, *words], status=2), text)
    check("random_ws" in run([*heddle, "--policy", "randomws", script], status=2), "the nearest policy is named")


def with_packages(python, folder, numbers):
    got = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:", "scikit-learn"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=500)
    if got.returncode != 0:
        raise Skipped(f"pip reaches no index with scikit-learn: {got.stdout.strip()[-300:]}")
    script = os.path.join(folder, "learns.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(LEARNS)
    for threads in numbers:
        out = run([python, "-m", "heddle", "--stats", script], env={"OMP_NUM_THREADS": threads})
        check("learned" in out, out)
        check(re.search(r"packages bring libgomp-\w+\.so\S* \(of scikit_learn\.libs\), whose functions are replaced", out), out)
        check(re.search(r"heddle: OpenMP: \S*/libgomp-\w+\.so\S* is loaded; its functions are replaced", out), out)
        largest = max(int(n) for n in re.findall(r"at most (\d+) in a team", out))
        check(largest >= min(int(threads), 2), f"{threads} threads were asked for, teams had {largest}\n{out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--threads", default="1,2,4,8", help="numbers of threads that the packages ask for")
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    try:
        with tempfile.TemporaryDirectory() as folder:
            made = run([sys.executable, os.path.join(TOP, "python", "heddle_wheel.py"), "--build", build, "--into", folder])
            wheel = made.strip().splitlines()[-1]
            python = environment_in(os.path.join(folder, "environment"), wheel)
            if given.packages:
                with_packages(python, folder, given.threads.split(","))
            else:
                without_packages(python, folder, build)
    except Skipped as why:
        print(f"skipped: {why}")
        return 77
    print("right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
