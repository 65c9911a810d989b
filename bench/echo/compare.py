#!/usr/bin/env python3
"""compare.py [--build DIR] [--connections N] [--echoes N] [--rounds N] [--json FILE]: echo servers side by side.

Builds heddle's server, one by hand around epoll, and the clients; runs each server with its clients, measures them in turns, and
prints a table. asyncio, uvloop (pip install uvloop) and Go are there where their programs are. Idle: the processor time that the server
takes while all connections are open and nothing comes, in percent of one processor."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", type=pathlib.Path, default=here.parent.parent / "build" / "release")
    p.add_argument("--connections", type=int, default=1000)
    p.add_argument("--echoes", type=int, default=10000)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--json", type=pathlib.Path)
    given = p.parse_args()
    if given.connections < 1 or given.echoes < given.connections or given.rounds < 1:
        p.error("needs at least one connection, one echo for each, and one round")
    return given


def servers(build, scratch):
    """Name -> command. What cannot be had here is said, and left out."""
    programs = build / "bench" / "echo"
    found = {
        "heddle, wait_readable": [programs / "echo_heddle_server"],
        "heddle, blocking": [programs / "echo_heddle_server", "blocking"],
        "epoll by hand": [programs / "echo_epoll_server"],
        "asyncio": [sys.executable, here / "asyncio_server.py"],
    }
    if subprocess.run([sys.executable, "-c", "import uvloop"], capture_output=True).returncode == 0:
        found["asyncio, uvloop"] = [sys.executable, here / "asyncio_server.py", "uvloop"]
    else:
        print("no uvloop here", file=sys.stderr)
    if shutil.which("go"):
        program = pathlib.Path(scratch) / "server"
        subprocess.run(["go", "build", "-o", program, here / "server.go"], check=True, env=os.environ | {"GO111MODULE": "off"})
        found["Go"] = [program]
    else:
        print("no go here", file=sys.stderr)
    return found


class Running:
    """A server and its clients, connected."""

    def __init__(self, command, build, connections, echoes):
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port = self.server.stdout.readline().strip()
        self.clients = subprocess.Popen(
            [build / "bench" / "echo" / "echo_clients", port, str(connections), str(echoes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.clients.stdout.readline().strip() != "open":
            raise SystemExit(f"{command}: the clients were not served")

    def seconds(self):
        self.clients.stdin.write("\n")
        self.clients.stdin.flush()
        return float(self.clients.stdout.readline())

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, key):
        for line in pathlib.Path(f"/proc/{self.server.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1])
        raise KeyError(key)

    def idle_percent(self, seconds=2.0):
        before = self.processor_seconds()
        time.sleep(seconds)
        return 100 * (self.processor_seconds() - before) / seconds

    def end(self):
        self.clients.kill()
        self.server.kill()
        self.clients.wait()
        self.server.wait()


def main():
    given = arguments()
    subprocess.run(["cmake", "--build", given.build, "--target", "heddle_bench_echo"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as scratch:
        running = {name: Running(command, given.build, given.connections, given.echoes)
                   for name, command in servers(given.build, scratch).items()}
    try:
        times = {name: [] for name in running}
        for _ in range(given.rounds + 1):   # the first warms up
            for name, each in running.items():
                times[name].append(each.seconds())
        rows = [{"server": name, "median_ms": 1e3 * statistics.median(times[name][1:]), "least_ms": 1e3 * min(times[name][1:]),
                 "most_ms": 1e3 * max(times[name][1:]), "kernel_threads": each.status("Threads"),
                 "resident_mib": each.status("VmRSS") / 1024, "idle_percent": each.idle_percent()}
                for name, each in running.items()]
    finally:
        for each in running.values():
            each.end()
    print(f"{given.echoes:,} echoes over {given.connections:,} connections, {given.rounds} rounds by turns, real")
    print("| server | ms, median (least to most) | kernel threads | resident, MiB | idle, % |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for r in rows:
        print(f"| {r['server']} | {r['median_ms']:.0f} ({r['least_ms']:.0f} to {r['most_ms']:.0f}) | {r['kernel_threads']} "
              f"| {r['resident_mib']:.0f} | {r['idle_percent']:.1f} |")
    if given.json:
        given.json.write_text(json.dumps({"connections": given.connections, "echoes": given.echoes, "rounds": given.rounds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
