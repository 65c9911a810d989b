#!/usr/bin/env bash
# Installs the build tree HEDDLE_BUILD to a scratch folder and builds tests/install/consumer
# against it: by find_package, by pkg-config, and refuses a version that is not there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "consumer_test: $*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
cmake --install "$HEDDLE_BUILD" --prefix "$tree" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
# The tree must hold up after a move, so nothing in it may name its first place.
mv "$tree" "$work/moved"
tree=$work/moved
if grep -rIl -e "$work/tree" -e "$HEDDLE_BUILD" "$tree"; then fail "these files name the build machine"; fi

configure() { cmake -S "$here/consumer" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" \
                    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$tree" "$@"; }

configure -B "$work/cmake" -DWANTED_VERSION="$HEDDLE_VERSION" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/cmake" -j 1
timeout 60 "$work/cmake/consumer"
timeout 60 "$work/cmake/consumer_static"
if configure -B "$work/refused" -DWANTED_VERSION=999.0 >"$work/log" 2>&1; then
  fail "version 999.0 was found"
fi

library=$(dirname "$(find "$tree" -name libheddle.so)")
export PKG_CONFIG_PATH=$library/pkgconfig
[ "$(pkg-config --modversion heddle)" = "$HEDDLE_VERSION" ] || fail "heddle.pc tells another version"
# shellcheck disable=SC2046
"$CXX" -std=c++20 -O1 -Wall -Wextra -Werror "$here/consumer/main.cpp" -o "$work/by_pkg_config" \
  $(pkg-config --cflags --libs heddle)
LD_LIBRARY_PATH=$library timeout 60 "$work/by_pkg_config"

# Policies beyond the daily ones are loaded from their library beside libheddle.so, or from where it was put.
run_under() { LD_LIBRARY_PATH=$library HEDDLE_POLICY=$1 timeout 60 "$work/by_pkg_config" 2>"$work/log"; }
for policy in hws mts pdf slaw laws crs numalb constrained_ws sb levels; do
  run_under "$policy" || { cat "$work/log"; fail "the consumer does not run under $policy"; }
done
further=libheddle_policies.so.${HEDDLE_VERSION%.*}
mkdir "$work/elsewhere" && mv "$library/$further" "$library/$further.${HEDDLE_VERSION##*.}" "$work/elsewhere"
run_under adws || { cat "$work/log"; fail "a daily policy needs the library of further ones"; }
if run_under hws; then fail "hws runs without its library"; fi
grep -q "policy 'hws' is in the library of further policies.*$further.*HEDDLE_POLICY_PLUGIN" "$work/log" || { cat "$work/log"; fail "the message does not name the library that is missing"; }
HEDDLE_POLICY_PLUGIN=$work/elsewhere/$further run_under hws || { cat "$work/log"; fail "the named library of policies is not used"; }
mv "$work/elsewhere/"* "$library"

# The header says what is missing where the language is too old.
echo '#include <heddle/heddle.hpp>' | "$CXX" -std=c++17 -fsyntax-only -I"$tree/include" -x c++ - >"$work/log" 2>&1 && fail "heddle.hpp compiles as C++17"
grep -q 'heddle needs C++20' "$work/log" || { cat "$work/log"; fail "heddle.hpp does not say that it needs C++20"; }

# A program under ThreadSanitizer with a library that is not instrumented says so instead of crashing.
# shellcheck disable=SC2046
if [ -z "$HEDDLE_SANITIZE" ] && "$CXX" -std=c++20 -fsanitize=thread "$here/consumer/main.cpp" -o "$work/half" $(pkg-config --cflags --libs heddle) 2>"$work/log"; then
  if LD_LIBRARY_PATH=$library timeout 60 setarch -R "$work/half" >"$work/log" 2>&1; then fail "a half-instrumented program runs"; fi
  grep -q 'libheddle is not' "$work/log" || { cat "$work/log"; fail "a half-instrumented program does not say what is wrong"; }
fi

# The installed headers compile with strict warnings. headers_test.sh compiles each of them alone.
find "$tree/include/heddle" -name '*.hpp' | sort | sed "s|^$tree/include/|#include <|; s|$|>|" |
  "$CXX" -std=c++20 -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror -fsyntax-only -I"$tree/include" -x c++ - ||
  fail "a header has a warning"
find "$tree/include/heddle" -name '*.h' | sort | while read -r header; do
  echo "#include <${header#"$tree/include/"}>" | "${CC:-cc}" -std=c11 -Wall -Wextra -Werror \
    -fsyntax-only -I"$tree/include" -x c - || fail "$header does not compile alone as C"
done

if [ "$PACKAGE_HAS_COMMAND" = 1 ]; then
  timeout 60 "$tree/bin/heddle" --help >/dev/null || fail "the installed command does not start"
  timeout 60 "$tree/bin/heddle" paper list >"$work/log" 2>&1 && grep -q adws-4.17 "$work/log" || fail "heddle paper does not run heddle-paper"
  # The moved tree simulates a program that was linked against it.
  if [ -d "$library/heddle/sim" ]; then
    timeout 60 "$tree/bin/heddle" sim --machine skylake-4x16 --workers 8 --seed 1 --json "$work/sim.json" -- "$work/cmake/consumer" \
      >"$work/log" 2>&1 || { cat "$work/log"; fail "heddle sim does not run the consumer"; }
    grep -q '"workers": 8' "$work/sim.json" || { cat "$work/sim.json"; fail "heddle sim ran something else"; }
    if timeout 60 "$tree/bin/heddle" sim --machine skylake-4x16 --workers 8 -- "$work/cmake/consumer_static" >"$work/log" 2>&1; then
      fail "a statically linked program was simulated"
    fi
    grep -q static "$work/log" || { cat "$work/log"; fail "the message does not name static linking"; }
  fi
fi
echo "consumer_test: passed"
