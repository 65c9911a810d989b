#!/usr/bin/env python3
"""ml-adaptive against the other policies, all kernels, several sizes, on models of two machines (simulated).

usage: adaptive-table.py HEDDLE OUT.json [--machines 56,64] [--sizes 0.5,4,16] [--kernels a,b] [--policies p,q] [--seed S,T]

Caches beyond the first, cutoffs and the costs of the scheduler are divided by 16, pages by 8 (the smallest); sizes are multiples of the scaled
third-level caches. Of several seeds a cell has the geometric mean, for in runs of a few tenths of a millisecond the same policy moves by 10 %
with its seed. Rows that OUT.json already has are not run again; the tables are printed as Markdown at the end.
"""
import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import tempfile

SHRINK = 16
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MACHINES = {56: ("cascadelake-2x28", 2 * 39424 * 1024 // SHRINK), 64: ("skylake-4x16", 4 * 22 * 1024 * 1024 // SHRINK)}
POLICIES = ["random_ws", "adws", "ml-adws", "sb-d", "ml-adaptive"]

# Bytes of data for n, and the command for it. Kernels bound by computation have one size.
KERNELS = {
    "rrm": lambda size: f"bench rrm --shrink {SHRINK} --n {size // 8}",
    "bufsort": lambda size: f"bench bufsort --shrink {SHRINK} --n {size // 16}",
    "kdtree": lambda size: f"bench kdtree --shrink {SHRINK} --n {size // 48}",
    "cart": lambda size: f"bench cart --shrink {SHRINK} --n {size // 464}",
    "mergesort": lambda size: f"bench mergesort --n {size // 8}",
    "heat2d": lambda size: f"bench heat2d --shrink {SHRINK} --iterations 5 --n {int((size / 8) ** 0.5) // 64 * 64}",
    "matmul": lambda size: f"bench matmul --variant quarters --leaf-rate 32 --shrink 8 --n {1 << round(((size / 12) ** 0.5)).bit_length() - 1}",
    "decision_tree": lambda size: f"demo --rows {size // 58}",
    "sph2d": None, "sph3d": None, "fib": None,
}
ONE_SIZE = {"sph2d": "bench sph2d --n 12000 --iterations 2", "sph3d": "bench sph3d --n 6000 --iterations 1", "fib": "bench fib --n 24"}


def scaled(machine, folder):
    text = open(os.path.join(ROOT, "sim", "machines", machine + ".toml")).read()
    text = re.sub(r"(l[2-5]:\d+\(size=)(\d+)(KiB|MiB)", lambda m: f"{m[1]}{int(m[2]) * (1024 if m[3] == 'MiB' else 1) // SHRINK}KiB", text)
    text = text.replace("overlap =", f"page_size = {max(4096 // SHRINK, 512)}\noverlap =", 1)
    defaults = open(os.path.join(ROOT, "sim", "machines", "defaults.toml")).read()
    costs = re.search(r"^\[costs\]\n((?:\w+ = [\d.]+\n)+)", defaults, re.M)[1]
    text += "\n[costs]\n" + re.sub(r"= ([\d.]+)", lambda m: f"= {float(m[1]) / SHRINK}", costs)
    path = os.path.join(folder, machine + "-1-16.toml")
    with open(path, "w") as file:
        file.write(text)
    return path


def run(heddle, machine, workers, policy, command, seed):
    with tempfile.TemporaryDirectory() as folder:
        counts, times = os.path.join(folder, "counts.json"), os.path.join(folder, "times.json")
        words = [heddle, "sim", "--machine", machine, "--policy", policy, "--workers", str(workers), "--fast", "--no-serial", "--seed", str(seed), "--json", counts, "--",
                 heddle, *command.split(), "--repeat", "1", "--json", times]
        done = subprocess.run(words, capture_output=True, text=True, timeout=1800)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr[-300:]}")
        report = json.load(open(times))["rows"]
        metric = "build" if command.startswith("demo") else None
        time = next(r["median"] for r in report if r.get("runtime") == "heddle" and (metric is None or r["metric"] == metric))
        unit = next(r["unit"] for r in report if r.get("runtime") == "heddle" and (metric is None or r["metric"] == metric))
        rows = json.load(open(counts))
        best = max(rows if isinstance(rows, list) else rows["rows"], key=lambda r: r["busy"] * r["virtual_seconds"])
        return {"time": time, "unit": unit, "idle": best["idle"], "l3": next((l["misses"] for l in best["levels"] if l["level"] == "l3"), None), "steals": best["steals"]}


def tables(rows, policies):
    for workers in sorted({r["workers"] for r in rows}):
        mine = [r for r in rows if r["workers"] == workers]
        print(f"\n{MACHINES[workers][0]}, {workers} workers\n\n| program | size | " + " | ".join(policies) + " | ml-adaptive over the best |")
        print("| --- | --- |" + " --- |" * (len(policies) + 1))
        ratios = {p: [] for p in policies}
        for cell in dict.fromkeys((r["kernel"], r["size"]) for r in mine):
            times = {p: {r["seed"]: r["time"] for r in mine if (r["kernel"], r["size"], r["policy"]) == (*cell, p)} for p in policies}
            common = set.intersection(*(set(of_seeds) for of_seeds in times.values()))  # a run that was stopped left some out
            if not common:
                continue
            of = {p: statistics.geometric_mean(times[p][s] for s in common) for p in policies}
            best = min(of[p] for p in policies)
            for p in policies:
                ratios[p].append(of[p] / best)
            over = of["ml-adaptive"] / best - 1
            print(f"| {cell[0]} | {cell[1]} | " + " | ".join(f"{of[p] / best:.2f}" for p in policies) + f" | {'best' if over == 0 else f'+{100 * over:.1f} %'} |")
        print("| geometric mean | | " + " | ".join(f"{statistics.geometric_mean(ratios[p]):.3f}" for p in policies if ratios[p]) + " | |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("out")
    parser.add_argument("--machines", default="56,64")
    parser.add_argument("--sizes", default="0.5,4,16")
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--seed", default="42")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    given = parser.parse_args()
    policies = given.policies.split(",")
    rows = json.load(open(given.out)) if os.path.exists(given.out) else []
    with tempfile.TemporaryDirectory() as folder:
        for workers in [] if given.tables else map(int, given.machines.split(",")):
            machine, caches = MACHINES[workers]
            path = scaled(machine, folder)
            for size in given.sizes.split(","):
                for kernel in given.kernels.split(","):
                    if KERNELS[kernel] is None:
                        if size != given.sizes.split(",")[0]:
                            continue
                        label, command = "-", ONE_SIZE[kernel]
                    else:
                        label, command = size + " x", KERNELS[kernel](int(float(size) * caches))
                    for policy, seed in itertools.product(policies, map(int, given.seed.split(","))):
                        key = {"kernel": kernel, "size": label, "workers": workers, "policy": policy, "seed": seed}
                        if any(all(r.get(k) == v for k, v in key.items()) for r in rows):
                            continue
                        rows.append(key | {"command": command} | run(given.heddle, path, workers, policy, command, seed))
                        print(key, rows[-1]["time"], flush=True)
                        with open(given.out, "w") as file:
                            json.dump(rows, file, indent=0)
    tables(rows, policies)


if __name__ == "__main__":
    main()
