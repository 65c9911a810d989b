#!/usr/bin/env bash
# Builds the AArch64 context switch, and what finds a kernel thread's variables, with a cross compiler and runs their
# checks under qemu-aarch64.
set -euo pipefail
cd "$(dirname "$0")/.."

compiler=${HEDDLE_AARCH64_CXX:-aarch64-linux-gnu-g++}
emulator=${HEDDLE_AARCH64_QEMU:-qemu-aarch64}
for tool in "$compiler" "$emulator"; do
  if ! command -v "$tool" >/dev/null; then
    echo "aarch64-check: no $tool here; scripts/setup.sh stress installs it" >&2
    exit 1
  fi
done

shopt -s nullglob
sources=(src/arch/aarch64/*.S src/arch/aarch64/*.cpp tests/arch/switch_main.cpp)
out=build/aarch64
mkdir -p "$out"
# Both with and without optimisation: the compiler keeps other registers live across the switch.
for level in -O0 -O2; do
  program=$out/switch_main$level
  "$compiler" -std=c++20 -static "$level" -g -Wall -Wextra -Iinclude -Isrc -Itests \
    "${sources[@]}" -o "$program" -pthread
  timeout 120 "$emulator" "$program"
  echo "aarch64-check: switch_main $level passed"
  program=$out/slots_main$level
  "$compiler" -std=c++20 -static "$level" -g -Wall -Wextra -Iinclude tests/arch/slots_main.cpp -o "$program" -pthread
  timeout 120 "$emulator" "$program"
done
