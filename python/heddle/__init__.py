"""heddle's OpenMP runtime for Python programs: `python -m heddle script.py`."""
import os
import sys

# heddle_wheel.py replaces it by the version of the libraries.
__version__ = "0"


def native_folder():
    """Where the command `heddle` and its libraries are; None in a source tree that holds none."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
    return folder if os.path.exists(os.path.join(folder, "heddle")) else None


def is_active():
    """Whether this process runs with heddle's OpenMP runtime in the place of others."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("/libheddle_omp.so" in line for line in maps)
    except OSError:
        return False


def interpreter_flags():
    """The words that begin an interpreter like this one: -O, -X dev, -W error ..."""
    import subprocess

    return subprocess._args_from_interpreter_flags()  # pylint: disable=protected-access; no public form exists


def command_for(options, words, interpreter=None):
    """The words that run an interpreter with `words` on heddle."""
    folder = native_folder()
    if folder is None:
        raise RuntimeError("heddle: this package has no libraries; install the wheel that `make wheel` builds")
    program = interpreter or sys.executable
    return [os.path.join(folder, "heddle"), "run", *options, "--", program, *interpreter_flags(), *words]


def environment():
    """That of the command, which finds its own libraries by it."""
    folder = os.path.join(native_folder(), "openmp")
    paths = [folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(paths)}
