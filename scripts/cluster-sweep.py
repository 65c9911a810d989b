#!/usr/bin/env python3
"""Simulated times of policies on clusters whose link latency is varied: docs/investigations/cluster-stealing.md.

usage: scripts/cluster-sweep.py BUILD OUT.json [--work MICROSECONDS] [--leaf MICROSECONDS] [--latency NS,..]
                                [--policies P+P..] [--seeds N] [--messages N]

BUILD is a build folder with the command and tests/sim_programs/divide (target sim_program_divide). A row is a latency,
a cell the median of the seeds in ms, with their extremes, which hold the median of all seeds with a probability of
15/16 where they are five.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

MACHINE = """title = "four clusters of eight workers, links of {latency} ns"
tree = "synthetic:pack:4 numa:1(memory=16GiB) l3:1(size=32MiB) l2:8(size=1MiB) core:1 pu:1"
frequency = 3
[links]
latency = {latency}
messages = {messages}
"""


def times(build, machine, policy, seeds, program):
    """Virtual ms of each seed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [str(build / "heddle"), "sim", "--machine", str(machine), "--policy", policy, "--seeds", str(seeds),
                   "--no-serial", "--json", out.name, "--", *program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return [row["virtual_seconds"] * 1e3 for row in json.load(open(out.name, encoding="utf-8"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--work", type=float, default=1.6e6)
    parser.add_argument("--leaf", type=float, default=50)
    parser.add_argument("--latency", default="1000,3000,10000,30000,100000,300000,1000000")
    parser.add_argument("--policies", default="crs+chs+cls+random-pushing+tatl+random_ws+hierarchical_ws")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--messages", type=float, default=1)
    given = parser.parse_args()
    policies = given.policies.split("+")
    program = [str(given.build / "tests" / "sim_programs" / "divide"), str(given.work), str(given.leaf)]
    rows = []
    print("| latency, us | " + " | ".join(f"`{p}`" for p in policies) + " |")
    print("| --- |" + " --- |" * len(policies))
    with tempfile.TemporaryDirectory() as folder:
        for latency in (float(text) for text in given.latency.split(",")):
            machine = pathlib.Path(folder) / f"{latency:.0f}.toml"
            machine.write_text(MACHINE.format(latency=latency, messages=given.messages), encoding="utf-8")
            cells = []
            for policy in policies:
                found = times(given.build, machine, policy, given.seeds, program)
                rows.append({"work_us": given.work, "leaf_us": given.leaf, "latency_ns": latency, "policy": policy,
                             "messages": given.messages, "ms": found, "simulated": True})
                cells.append(f"{statistics.median(found):.1f} [{min(found):.1f}, {max(found):.1f}]")
            print(f"| {latency / 1000:g} | " + " | ".join(cells) + " |", flush=True)
    given.out.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
