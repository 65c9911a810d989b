#!/usr/bin/env bash
# Installs the Debian packages of the sections named (default: every section) in scripts/packages.txt, only
# those that are missing. Needs no network and no rights when none is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
list=$here/packages.txt

known=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$list" | tr '\n' ' ')
[ $# -gt 0 ] || set -- $known

wanted=()
for section in "$@"; do
  case " $known" in
    *" $section "*) ;;
    *) echo "setup: no section '$section' in scripts/packages.txt; there are: $known" >&2; exit 2 ;;
  esac
  mapfile -t -O "${#wanted[@]}" wanted < <(awk -v want="[$section]" '
    /^#/ || NF == 0 { next } /^\[/ { on = ($0 == want); next } on { print $1 }' "$list")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is no Debian system; what must be there, by Debian's names:"
  printf '  %s\n' "${wanted[@]}" | sort -u
  echo "setup: nothing installed, going on"
  exit 0
fi

missing=()
while read -r package; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case $state in
    ?i*) ;;   # installed; the first letter is only what is wished for
    *) missing+=("$package") ;;
  esac
done < <(printf '%s\n' "${wanted[@]}" | sort -u)

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all packages of [$*] are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root and no sudo here; as root, run" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing with apt-get${as_root[*]:+ (through sudo)}: ${missing[*]}"
# Stale lists still serve when the network is away and the packages are cached.
${as_root[@]+"${as_root[@]}"} apt-get -q update || echo "setup: apt-get update failed, trying with the old lists"
${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
  apt-get -q -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}"
echo "setup: done"
