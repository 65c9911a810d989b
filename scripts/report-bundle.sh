#!/usr/bin/env bash
# Makes report/dist/page.inc, the report page that is compiled into the command, from report/src.
#   scripts/report-bundle.sh           make it anew
#   scripts/report-bundle.sh --check   make it elsewhere and compare; exit status 1 if the committed one is out of date
# Needs node and npm, and the registry for packages that npm has not kept. Where they are missing --check says so and ends
# with status 77.
set -euo pipefail
cd "$(dirname "$0")/../report"

check=false
case "${1:-}" in
  --check) check=true ;;
  "") ;;
  *) echo "usage: scripts/report-bundle.sh [--check]" >&2; exit 2 ;;
esac

missing() {
  echo "report bundle: $1" >&2
  if $check; then exit 77; fi
  exit 1
}
command -v node >/dev/null || missing "no node, the bundle is not made anew"
command -v npm >/dev/null || missing "no npm, the bundle is not made anew"
# Exactly the packages of package-lock.json; their scripts are not run. Kept between runs while the lock file stays the same.
if ! cmp -s package-lock.json node_modules/.heddle-lock; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || missing "the packages cannot be fetched"
  cp package-lock.json node_modules/.heddle-lock
fi
node_modules/.bin/tsc --noEmit

if ! $check; then
  node build.mjs
  exit 0
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
node build.mjs "$made" >/dev/null
if ! cmp -s "$made/page.inc" dist/page.inc; then
  echo "report/dist/page.inc is out of date; run scripts/report-bundle.sh and commit it" >&2
  exit 1
fi
echo "report bundle: up to date"
