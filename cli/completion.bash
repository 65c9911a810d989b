# Bash completion of heddle(1): commands, options, and the names that an option takes. It asks the program whose
# arguments are completed, so it needs no change when a command or a policy is added.
# Use: `source` this file; a package puts it where bash looks by itself.

# The first words of the entries in a list of `heddle --help`, `heddle help policies` or `heddle topo --list` (standard
# input). An entry is indented by $1; the lines that go on with it are indented by more.
_heddle_names() {
  sed -n "s/^$1\\([A-Za-z0-9][A-Za-z0-9_.-]*\\) .*/\\1/p"
}

# The values of option $3 of `$1 $2`, one a line. Nothing is printed if they are not known.
_heddle_values() {
  case $3 in
    --policy | --compare) "$1" help policies | _heddle_names '  ' ;;
    --machine) { echo this; "$1" topo --list | _heddle_names ''; } ;;
    --kernel) "$1" bench --list | tail -n +2 | _heddle_names '' ;;
    *) "$1" "$2" --help | sed -n "s/^ .*$3 TEXT:{\\([^}]*\\)}.*/\\1/p" | tr , '\n' ;;
  esac
}

_heddle() {
  local program=$1 word=$2 before=$3 command=${COMP_WORDS[1]} names i
  COMPREPLY=()
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then return; fi   # a program and its arguments
  done
  # --policy=NAME is three words
  if [[ $word == = ]]; then word=''; fi
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    names="help --help --version $("$program" --help 2>/dev/null | sed '/^pages/,$d' | _heddle_names '  ')"
  elif [[ $command == help ]]; then
    names=$("$program" --help 2>/dev/null | _heddle_names '  ')
  elif [[ $before == --* ]] && names=$(_heddle_values "$program" "$command" "$before" 2>/dev/null) && [[ -n $names ]]; then
    :
  elif [[ $word == -* ]]; then
    names=$("$program" "$command" --help 2>/dev/null | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+')
  elif [[ $command == bench ]]; then
    names=$(_heddle_values "$program" bench --kernel 2>/dev/null)
  else
    return   # a file
  fi
  mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
}

complete -o default -F _heddle heddle
