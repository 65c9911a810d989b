"""Runs a program with a limit of time. What is late is killed, after the stacks of all its threads have been printed."""
import dataclasses
import os
import signal
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Ended:
    status: int      # the exit status, negative: died of that signal
    output: str      # standard output and errors, as they came
    seconds: float
    late: bool = False
    stacks: str = ''

    @property
    def right(self):
        return self.status == 0 and not self.late

    @property
    def outcome(self):
        if self.late:
            return 'hang'
        if self.status < 0:
            return signal.Signals(-self.status).name
        return 'pass' if self.status == 0 else f'status {self.status}'


def stacks_of(process):
    """Of all threads of a process, also of the user-level threads that heddle has parked. Empty without gdb."""
    gdb = shutil.which('gdb')
    if gdb is None:
        return ''
    command = [gdb, '-nx', '-batch', '-p', str(process), '-ex', 'thread apply all bt 20']
    commands_of_heddle = os.path.join(HERE, 'gdb', 'heddle.py')
    if os.path.exists(commands_of_heddle):
        command += ['-ex', f'source {commands_of_heddle}', '-ex', 'heddle threads']
    try:
        told = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return ''
    return '\n'.join(line for line in told.stdout.split('\n') if line and not line.startswith('[New LWP'))


def run(words, limit, environment=None, folder=None, stacks=True):
    """The program in a session of its own, so that what it has started ends with it."""
    begun = time.monotonic()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', env=environment, cwd=folder, start_new_session=True) as child:
        try:
            output, _ = child.communicate(timeout=limit)
            return Ended(child.returncode, output, time.monotonic() - begun)
        except subprocess.TimeoutExpired:
            told = stacks_of(child.pid) if stacks else ''
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            output, _ = child.communicate()
            return Ended(child.returncode, output, time.monotonic() - begun, True, told)
