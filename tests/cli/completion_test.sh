#!/usr/bin/env bash
# cli/completion.bash offers what the command takes. usage: completion_test.sh HEDDLE
set -u
program=${1:?usage: completion_test.sh HEDDLE}
source "$(dirname "$0")/../../cli/completion.bash"
failed=0

# What is offered for the line of these words, the last of which is being completed; sorted, on one line.
offered() {
  COMP_WORDS=(heddle "$@")
  COMP_CWORD=$#
  local last=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  _heddle "$program" "$last" "$before"
  printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
}

expect() {   # what is to be offered; the words
  local wanted=$1 found
  shift
  found=$(offered "$@")
  if [ "$found" != "$wanted" ]; then
    echo "heddle $*: offered '$found', not '$wanted'"
    failed=1
  fi
}

expect_among() {   # one that is to be offered; the words
  local wanted=$1
  shift
  case " $(offered "$@") " in
    *" $wanted "*) ;;
    *)
      echo "heddle $*: '$wanted' is not offered"
      failed=1
      ;;
  esac
}

# Each command that `heddle --help` lists, and each option that its help lists, is offered.
for command in $("$program" --help | sed '/^pages/,$d' | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  expect_among "$command" ''
  for option in $("$program" "$command" --help | sed -n 's/^  *\(-[a-z],\)*\(--[a-z-]*\)[ =].*/\2/p'); do
    expect_among "$option" "$command" --
  done
done
expect 'run' ru
expect 'ml-adaptive ml-adws' sim --policy ml-ad
expect 'ml-adaptive ml-adws' run --policy = ml-ad
expect 'skylake-2x28' sim --machine skylake-2x28
expect '' bench kern                      # the heading of the list
expect 'this' sim --machine thi
expect 'annotations auto measured' sim --charge ''
expect 'options' help opt
expect '' run -- ./program --pol          # a program's own arguments
expect '' run ./pro                       # a file, which bash completes itself
expect '' sim --no-such-option x
expect '' no-such-command --
# Which kernels there are depends on the benchmark programs that were built.
for kernel in $("$program" bench --list 2>/dev/null | sed -n '2,$s/^\([a-z_0-9]*\) .*/\1/p'); do
  expect_among "$kernel" bench "${kernel:0:1}"
done
exit $failed
