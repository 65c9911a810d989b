#!/usr/bin/env bash
# check_quotes.sh ROOT: every C or C++ block of README.md and docs/guide that follows a line with "From `examples/FILE`"
# must stand in that file, word for word.
set -euo pipefail
cd "${1:?usage: check_quotes.sh ROOT}"

bad=0
checked=0
for page in README.md docs/guide/*.md; do
  source=""
  block=""
  inside=0
  number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    if [ $inside = 1 ]; then
      if [ "$line" = '```' ]; then
        inside=0
        if [ -z "$source" ]; then continue; fi
        checked=$((checked + 1))
        text=$(cat "$source" 2>/dev/null; echo .)
        if [[ "$text" != *"$block"* ]]; then
          echo "$page:$start: not in $source as it stands here"
          bad=$((bad + 1))
        fi
        source=""
      else
        block+=$line$'\n'
      fi
    elif [[ $line == '```cpp' || $line == '```c' ]]; then
      inside=1
      block=""
      start=$number
    elif [[ $line =~ From\ \`(examples/[a-z0-9_]+\.(cpp|c))\` ]]; then
      source=${BASH_REMATCH[1]}
    fi
  done <"$page"
done
echo "check_quotes: $checked blocks compared, $bad differ"
if [ "$checked" -lt 10 ]; then
  echo "check_quotes: too few blocks found; have the marks in the pages changed?"
  exit 1
fi
[ "$bad" -eq 0 ]
