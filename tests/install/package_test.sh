#!/usr/bin/env bash
# Makes the .deb from the build tree HEDDLE_BUILD and checks what is in it.
set -euo pipefail
fail() { echo "package_test: $*" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null || { echo "package_test: no $tool here, skipped"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$HEDDLE_BUILD/CPackConfig.cmake" -B "$work/out") >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "cpack failed"; }

deb=$(find "$work/out" -maxdepth 1 -name "libheddle_${HEDDLE_VERSION}_*.deb")
[ -n "$deb" ] || fail "cpack made no libheddle_${HEDDLE_VERSION}_*.deb"

dpkg-deb -c "$deb" | awk '{ print $6 }' > "$work/files"
has() { grep -qE "$1" "$work/files" || { cat "$work/files"; fail "no file like $1 in the package"; }; }
has "^\./usr/lib/.*libheddle\.so\.${HEDDLE_VERSION//./\\.}\$"
has '^\./usr/lib/.*libheddle\.so$'
has '^\./usr/lib/.*libheddle\.a$'
has '^\./usr/lib/.*/heddle\.pc$'
has '^\./usr/lib/.*/heddleConfig\.cmake$'
has '^\./usr/include/heddle/heddle\.hpp$'
has '^\./usr/share/doc/heddle/copyright$'
[ "$HEDDLE_HAS_COMMAND" != 1 ] || has '^\./usr/bin/heddle$'
if grep -vE '^\./(usr/((bin|include|lib|libexec|share)/.*)?)?$' "$work/files"; then fail "these files lie elsewhere"; fi

depends=$(dpkg-deb -f "$deb" Depends)
for package in libc6 libstdc++6 libhwloc15; do
  [[ $depends == *"$package"* ]] || fail "the package does not depend on $package, but on: $depends"
done
dpkg-deb --ctrl-tarfile "$deb" | tar -tf - > "$work/control"   # not straight into grep -q, which may close the pipe before tar has ended
grep -qxE './(postinst|triggers)' "$work/control" ||
  fail "the package does not refresh the loader's cache"
echo "package_test: passed; depends on $depends"
