#!/usr/bin/env bash
# Makes the Debian packages from the build tree HEDDLE_BUILD and checks what is in them. Where dpkg may unpack them, the command that comes out of
# them is run without the build tree's help.
set -euo pipefail
fail() { echo "package_test: $*" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null || { echo "package_test: no $tool here, skipped"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$HEDDLE_BUILD/CPackConfig.cmake" -B "$work/out") >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "cpack failed"; }

soname=libheddle${HEDDLE_VERSION%.*}
package() {   # name: the file that cpack made for it
  find "$work/out" -maxdepth 1 -name "$1_${HEDDLE_VERSION}_*.deb" | grep . || fail "cpack made no $1_${HEDDLE_VERSION}_*.deb"
}
has() {   # package, pattern
  dpkg-deb -c "$(package "$1")" | awk '{ print $6 }' > "$work/files"
  grep -qE "$2" "$work/files" || { cat "$work/files"; fail "no file like $2 in $1"; }
}
lacks() {
  dpkg-deb -c "$(package "$1")" | awk '{ print $6 }' > "$work/files"
  if grep -E "$2" "$work/files"; then fail "$1 has files like $2"; fi
}
depends() { dpkg-deb -f "$(package "$1")" Depends; }
needs() {   # package, what it depends on...
  local all
  all=$(depends "$1")
  for other in "${@:2}"; do
    [[ $all == *"$other"* ]] || fail "$1 does not depend on $other, but on: $all"
  done
}

has "$soname" "^\./usr/lib/.*libheddle\.so\.${HEDDLE_VERSION//./\\.}\$"
has "$soname" "^\./usr/lib/.*libheddle_policies\.so\.${HEDDLE_VERSION//./\\.}\$"
lacks "$soname" '\.(a|hpp|h|cmake|pc)$|libheddle\.so$|/bin/'
needs "$soname" libc6 libstdc++6 libhwloc15
dpkg-deb --ctrl-tarfile "$(package "$soname")" | tar -tf - > "$work/control"   # not straight into grep -q, which may close the pipe before tar has ended
grep -qxE './(postinst|triggers)' "$work/control" || fail "$soname does not refresh the loader's cache"

has libheddle-dev '^\./usr/lib/.*libheddle\.so$'
has libheddle-dev '^\./usr/lib/.*libheddle\.a$'
has libheddle-dev '^\./usr/lib/.*/heddle\.pc$'
has libheddle-dev '^\./usr/lib/.*/heddleConfig\.cmake$'
has libheddle-dev '^\./usr/include/heddle/heddle\.hpp$'
has libheddle-dev '^\./usr/share/doc/libheddle-dev/examples/guide_first\.cpp$'
has "$soname" '^\./usr/share/heddle/gdb/heddle\.py$'
has "$soname" '^\./usr/share/gdb/auto-load/usr/lib/.*libheddle\.so\.[0-9.]*-gdb\.py$'
needs libheddle-dev "$soname"
packages=("$soname" libheddle-dev)

if [ "$PACKAGE_HAS_COMMAND" = 1 ]; then
  packages+=(heddle)
  has heddle '^\./usr/bin/heddle$'
  has heddle '^\./usr/bin/heddle-paper$'
  has heddle '^\./usr/share/man/man1/heddle\.1(\.gz)?$'
  has heddle '^\./usr/share/bash-completion/completions/heddle$'
  has heddle '^\./usr/share/doc/heddle/guide/getting_started\.md$'
  # The tests need few of the benchmarks' programs; `make package` builds them all.
  [ ! -x "$HEDDLE_BUILD/libexec/heddle/heddle-bench-futex" ] || for program in bench-heddle bench-heddle-shared bench-serial bench-futex preempt preempt-model insitu tree-heddle tree-serial; do
    has heddle "^\./usr/libexec/heddle/heddle-$program\$"
  done
  lacks heddle '-(tbb|libomp|libgomp|boost_fiber|rayon)$'
  needs heddle "$soname"
  for rival in tbb omp boost; do
    [[ $(depends heddle) != *"$rival"* ]] || fail "the command depends on a rival: $(depends heddle)"
  done
fi
for name in "${packages[@]}"; do
  has "$name" "^\./usr/share/doc/$name/copyright\$"
  lacks "$name" '^\./(usr/)?(local|opt)/|^\./[^u]'
  dpkg-deb -x "$(package "$name")" "$work/root"
done

# A file belongs to one package only.
for name in "${packages[@]}"; do dpkg-deb -c "$(package "$name")" | awk '$1 !~ /^d/ { print $6 }'; done | sort | uniq -d > "$work/twice"
[ ! -s "$work/twice" ] || { cat "$work/twice"; fail "these files are in two packages"; }

if [ "$PACKAGE_HAS_COMMAND" = 1 ]; then
  LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libheddle.so.*' -not -path '*/heddle/*' -print -quit)")
  export LD_LIBRARY_PATH
  installed=$work/root/usr/bin/heddle
  "$installed" --version > "$work/log" 2>&1 || { cat "$work/log"; fail "heddle does not start when installed"; }
fi
if [ "$PACKAGE_HAS_COMMAND" = 1 ] && [ -x "$HEDDLE_BUILD/libexec/heddle/heddle-bench-serial" ]; then
  timeout 120 "$installed" bench fib --n 15 --workers 2 --repeat 1 > "$work/log" 2>&1 || { cat "$work/log"; fail "heddle bench does not work when installed"; }
  grep -q heddle "$work/log" || { cat "$work/log"; fail "heddle bench measured nothing"; }
fi
echo "package_test: passed; $soname depends on $(depends "$soname")"
