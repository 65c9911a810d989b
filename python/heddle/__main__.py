"""python -m heddle [OPTIONS] script.py | -m module | -c code | -   [ARGUMENTS]

Runs a Python program on heddle: heddle's workers do everything that its packages do with OpenMP.

  --workers N       the number of processors that the threads of all teams share
  --policy P        the scheduling policy
  --preempt SLICE   the length of a preemptive thread's time slice (1ms), or auto, on, off
  --trace FILE      writes a trace, NAME.heddle or NAME.json
  --stats           prints at the end what each thread did, not only the sums
  --version         print the version
"""
import os
import sys

import heddle

WITH_VALUE = ("--workers", "--policy", "--preempt", "--trace")
WITHOUT = ("--stats",)


def fail(text):
    print(f"python -m heddle: {text}", file=sys.stderr)
    sys.exit(2)


def split(words):
    """Our options, and the words of the program."""
    options, rest = [], list(words)
    while rest and rest[0].startswith("--"):
        word = rest.pop(0)
        name = word.partition("=")[0]
        if word == "--":
            break
        if word == "--help":
            print(__doc__.strip())
            sys.exit(0)
        if word == "--version":
            print(heddle.__version__)
            sys.exit(0)
        if word in WITHOUT or (name in WITH_VALUE and "=" in word):
            options.append(word)
        elif word in WITH_VALUE:
            if not rest:
                fail(f"{word} needs a value")
            options += [word, rest.pop(0)]
        else:
            fail(f"unknown option {name}; there are {', '.join(WITH_VALUE + WITHOUT)}")
    return options, rest


def main():
    options, words = split(sys.argv[1:])
    if not words:
        fail("no program: python -m heddle [OPTIONS] script.py | -m module | -c code [ARGUMENTS]")
    if words[0] in ("-m", "-c") and len(words) < 2:
        fail(f"{words[0]} needs a value")
    if not words[0].startswith("-") and not os.path.exists(words[0]):
        fail(f"there is no file {words[0]}")
    try:
        command = heddle.command_for(options, words)
    except RuntimeError as error:
        fail(str(error).replace("heddle: ", "", 1))
    sys.stdout.flush()
    os.execve(command[0], command, heddle.environment())


if __name__ == "__main__":
    main()
