#!/usr/bin/env python3
"""Simulated times of policies over those of the first one, by machine and program, with paired seeds:
docs/investigations/sockets-today.md and grouping.md.

usage: scripts/policy-table.py run OUT.json --build BUILD --machine M --workers N --policies P+P.. [--seeds 5]
                               [--program FILE] [--set "KERNEL ARGUMENTS" ..]
       scripts/policy-table.py show OUT.json ..

`run` adds rows to OUT.json, and leaves out those that it has. A set is what follows --kernel; the program is that of
`heddle bench` over heddle's shared library, with one sample and no warm-up. `show` prints, for each machine and
program, the median of the paired ratios to the first policy (as they stand in the file) with the least and the most of
them, which with five seeds hold the median with a probability of 15/16; and the geometric means of the medians.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile


def simulated(given, policy, arguments):
    program = given.program or given.build / "libexec" / "heddle" / "heddle-bench-heddle-shared"
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [str(given.build / "heddle"), "sim", "--machine", given.machine, "--policy", policy, "--fast",
                   "--no-serial", "--workers", str(given.workers), "--seeds", str(given.seeds), "--json", out.name, "--",
                   str(program), "--kernel", *arguments.split(), "--samples", "1", "--warmup", "0", "--workers",
                   str(given.workers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return json.load(open(out.name, encoding="utf-8"))


def rows_of(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def run(given):
    rows = rows_of(given.out)
    known = {(r["machine"], r["program"], r["policy"], r["workers"]) for r in rows}
    for arguments in given.set:
        for policy in given.policies.split("+"):
            name = policy.split(",file=")[0].split(":file=")[0] + (":file" if "file=" in policy else "")
            if (given.machine, arguments, name, given.workers) in known:
                continue
            for seed, found in enumerate(simulated(given, policy, arguments)):
                rows.append({"machine": given.machine, "program": arguments, "policy": name, "workers": given.workers,
                             "seed": seed, "virtual_seconds": found["virtual_seconds"],
                             "last_misses": found["levels"][-1]["misses"],
                             "inner_misses": found["levels"][-2]["misses"],
                             "local_bytes": sum(n["local_bytes"] for n in found["nodes"]),
                             "remote_bytes": sum(n["remote_bytes"] for n in found["nodes"]),
                             "idle": found["idle"], "steals": found["steals"], "simulated": True})
            given.out.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")
            print(given.machine, arguments, name, flush=True)


def show(given):
    rows = [r for file in given.files for r in rows_of(file)]
    for machine in dict.fromkeys(r["machine"] for r in rows):
        here = [r for r in rows if r["machine"] == machine]
        policies = list(dict.fromkeys(r["policy"] for r in here))
        print(f"\n### {machine}, {here[0]['workers']} workers")
        print("| program | `" + policies[0] + "`, ms | " + " | ".join(f"`{p}`" for p in policies[1:]) + " |")
        print("| --- |" + " --- |" * len(policies))
        medians = {p: [] for p in policies}
        for program in dict.fromkeys(r["program"] for r in here):
            times = {p: {r["seed"]: r["virtual_seconds"] for r in here if r["program"] == program and r["policy"] == p}
                     for p in policies}
            cells = [f"{1e3 * statistics.median(times[policies[0]].values()):.2f}"]
            for policy in policies[1:]:
                ratios = [t / times[policies[0]][seed] for seed, t in times[policy].items()]
                if not ratios:
                    cells.append("-")
                    continue
                medians[policy].append(statistics.median(ratios))
                cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
            print(f"| {program} | " + " | ".join(cells) + " |")
        means = [f"{math.exp(statistics.mean(map(math.log, m))):.2f}" if (m := medians[p]) else "-"
                 for p in policies[1:]]
        print("| geometric mean | | " + " | ".join(means) + " |")
        if given.counts:
            print("\n| program | policy | idle | last misses, 1,000 | inner misses, 1,000 | local |\n" + "| --- " * 6 + "|")
            for program in dict.fromkeys(r["program"] for r in here):
                for policy in policies:
                    some = [r for r in here if r["program"] == program and r["policy"] == policy]
                    if not some:
                        continue
                    median = {k: statistics.median(r[k] for r in some) for k in ("idle", "last_misses", "inner_misses")}
                    part = statistics.median(r["local_bytes"] / max(r["local_bytes"] + r["remote_bytes"], 1)
                                             for r in some)
                    print(f"| {program} | `{policy}` | {100 * median['idle']:.0f} % | {median['last_misses'] / 1e3:.0f} |"
                          f" {median['inner_misses'] / 1e3:.0f} | {100 * part:.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("out", type=pathlib.Path)
    runner.add_argument("--build", type=pathlib.Path, required=True)
    runner.add_argument("--machine", required=True)
    runner.add_argument("--workers", type=int, required=True)
    runner.add_argument("--policies", required=True)
    runner.add_argument("--seeds", type=int, default=5)
    runner.add_argument("--program", type=pathlib.Path)
    runner.add_argument("--set", action="append", required=True)
    runner.set_defaults(act=run)
    shower = commands.add_parser("show")
    shower.add_argument("files", type=pathlib.Path, nargs="+")
    shower.add_argument("--counts", action="store_true")
    shower.set_defaults(act=show)
    given = parser.parse_args()
    given.act(given)


if __name__ == "__main__":
    main()
