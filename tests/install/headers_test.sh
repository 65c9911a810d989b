#!/usr/bin/env bash
# Every public header compiles alone, with strict warnings. consumer_test.sh compiles them together.
set -euo pipefail
include=$(cd "$(dirname "$0")/../../include" && pwd)
failed=0
for header in $(cd "$include" && find heddle -name '*.hpp' | sort); do
  "$CXX" -std=c++20 -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror -fsyntax-only -I"$include" -x c++ - \
    <<< "#include <$header>" || { echo "headers_test: $header does not compile alone" >&2; failed=1; }
done
[ "$failed" -eq 0 ] && echo "headers_test: passed"
