#!/usr/bin/env python3
"""Puts what CMake has built into a wheel: heddle's command, its libraries, and those of other people that they need.

As a program: heddle_wheel.py [--build DIR] [--into DIR]; prints the wheel's path. As a build backend (PEP 517) for
`pip wheel python/`: the build tree is ../build/release, or what HEDDLE_BUILD names. Needs nothing but binutils.
"""
import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
OPENMP = ["libheddle_omp.so", "libheddle_omp_waits.so", "libomp.so.5", "libiomp5.so", "libgomp.so.1"]
# Of everybody who has a Python of this kind; all others that are needed go into the wheel.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux[-a-z0-9_]*)\.so\b")


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def needed_by(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", file))


def found_libraries(file):
    """Names and paths of what the dynamic linker finds for the file."""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", file), re.M))


# The C library that the first distributions had with a libstdc++ of that version (3.4.N).
C_LIBRARY_BESIDE = {30: (2, 36), 31: (2, 38), 32: (2, 38), 33: (2, 39)}


def version_of_c_library(files):
    versions = {(2, 17)}
    for file in files:
        listed = output_of("readelf", "-V", file)
        for version in re.findall(r"\bGLIBC_([0-9.]+)", listed):
            versions.add(tuple(int(part) for part in version.split(".")[:2]))
        for minor in re.findall(r"\bGLIBCXX_3\.4\.([0-9]+)", listed):
            versions.add(C_LIBRARY_BESIDE.get(min(int(minor), max(C_LIBRARY_BESIDE)), (2, 17)))
    return max(versions)


def version():
    with open(os.path.join(TOP, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"project\(heddle VERSION ([0-9.]+)", f.read()).group(1)


def collect(build, folder):
    """Copies the files of native/ into `folder`; returns their paths relative to it."""
    library = os.path.basename(os.path.realpath(os.path.join(build, "libheddle.so")))
    soname = library if library.count(".") < 4 else library.rsplit(".", 1)[0]
    wanted = {"heddle": os.path.join(build, "heddle"), soname: os.path.join(build, soname)}
    policies = soname.replace("libheddle.", "libheddle_policies.")  # loaded by libheddle, from beside it
    for name in (policies, "heddle-paper"):  # the second one is executed by `heddle paper`
        wanted[name] = os.path.join(build, name)
    wanted.update({f"openmp/{name}": os.path.join(build, "openmp", name) for name in OPENMP})
    for file in wanted.values():
        if not os.path.exists(file):
            raise SystemExit(f"{file} is not there: build the targets heddle_cli, heddle_paper and openmp first (make wheel does)")
    open_files = list(wanted.values())
    while open_files:
        file = open_files.pop()
        found = found_libraries(file)
        for name in needed_by(file):
            own = name in (soname, policies) or name in OPENMP
            if own or OF_THE_SYSTEM.match(name) or f"openmp/{name}" in wanted or name not in found:
                continue
            wanted[f"openmp/{name}"] = os.path.realpath(found[name])
            open_files.append(found[name])
    for name, file in wanted.items():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(file, target)
        os.chmod(target, 0o755)
        subprocess.run(["strip", "--strip-unneeded", target], check=True)
    return sorted(wanted)


def platform_of(folder, names):
    machine = os.uname().machine
    major, minor = version_of_c_library([os.path.join(folder, name) for name in names])
    return f"manylinux_{major}_{minor}_{machine}"


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        text = f.read()
    return (f"Metadata-Version: 2.1\nName: heddle\nVersion: {version()}\n"
            "Summary: Runs Python programs whose packages use OpenMP on heddle's workers\n"
            "License: Apache-2.0 WITH LLVM-exception\nRequires-Python: >=3.8\n"
            f"Description-Content-Type: text/markdown\n\n{text}")


class Wheel:
    """A zip file with a record of what is in it; the same contents give the same bytes."""

    def __init__(self, path, info):
        self.zip, self.info, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), info, []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        self.record.append(f"{self.info}/RECORD,,")
        self.add(f"{self.info}/RECORD", ("\n".join(self.record) + "\n").encode())
        self.zip.close()


def make(build, into):
    with tempfile.TemporaryDirectory() as folder:
        names = collect(build, folder)
        tag = f"py3-none-{platform_of(folder, names)}"
        info = f"heddle-{version()}.dist-info"
        os.makedirs(into, exist_ok=True)
        file = f"heddle-{version()}-{tag}.whl"
        wheel = Wheel(os.path.join(into, file), info)
        for name in sorted(os.listdir(os.path.join(HERE, "heddle"))):
            if name.endswith(".py"):
                with open(os.path.join(HERE, "heddle", name), encoding="utf-8") as f:
                    text = f.read().replace('__version__ = "0"', f'__version__ = "{version()}"')
                wheel.add(f"heddle/{name}", text.encode())
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                wheel.add(f"heddle/native/{name}", f.read(), 0o755)
        with open(os.path.join(TOP, "LICENSE"), "rb") as f:
            wheel.add(f"{info}/LICENSE", f.read())
        wheel.add(f"{info}/METADATA", metadata().encode())
        wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        wheel.close()
    return file


# PEP 517
def get_requires_for_build_wheel(config_settings=None):
    del config_settings
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    return make(os.environ.get("HEDDLE_BUILD", os.path.join(TOP, "build", "release")), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    del sdist_directory, config_settings
    raise SystemExit("heddle's libraries are built by CMake from the whole source tree: make wheel")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(TOP, "build", "release"), help="build tree (%(default)s)")
    parser.add_argument("--into", default=os.path.join(TOP, "build", "wheel"), help="folder for the wheel (%(default)s)")
    given = parser.parse_args()
    print(os.path.join(given.into, make(os.path.abspath(given.build), given.into)))


if __name__ == "__main__":
    sys.exit(main())
