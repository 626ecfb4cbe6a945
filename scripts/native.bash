# Finds what this machine lacks to build the libraries in C and C++ of the agents that are measured. Sourced by
# ./tracetax, which says in $root, $command, $arguments, $experiment and $resumed what that is.

# shellcheck disable=SC2154  # so are $parts and $log, by setup.bash

# What the arguments name in words of their own, and what an experiment or a run names in quotation marks.
typed='' quoted=''
read_named() {
  local file text
  typed=" ${arguments[*]} "
  for file in "$resumed/manifest.json" "$experiment" "$root/$experiment" "$root/experiments/$experiment.toml"; do
    if [[ -f $file && -r $file ]]; then
      IFS= read -rd '' text <"$file" || true
      quoted+=$text
    fi
  done
}

# Puts the packages into native_packages that are missing: of the compiler, and of what measured agents link with. The
# project's tests measure all agents.
find_native_packages() {
  local file text agent package pattern='packages = \[([^]]*)\]' wanted=()
  native_packages=()
  read_named
  for file in "$root"/agents/*/*/agent.toml; do
    [[ -f $file ]] || continue
    IFS= read -rd '' text <"$file" || true
    [[ $text == *$'\ncc = '* || $text == *$'\n[prepare.cc]'* ]] || continue
    agent=${file#"$root/agents/"} agent=${agent%%/*}
    if [[ $command == test || $typed =~ [^[:alnum:]-]"$agent"[^[:alnum:]-] || $quoted =~ \""$agent"[\":/] ]]; then
      wanted+=(g++)
      if [[ $text =~ $pattern ]]; then
        text=${BASH_REMATCH[1]//[\",]/ }
        read -rd '' -a more <<<"$text" || true
        wanted+=("${more[@]}")
      fi
    fi
  done
  for package in "${wanted[@]}"; do
    if [[ " ${native_packages[*]} " == *" $package "* ]]; then continue; fi
    if [[ $package == g++ ]]; then type -P c++ >/dev/null && continue
    elif ! type -P dpkg >/dev/null || dpkg -s "$package" >/dev/null 2>&1; then continue
    fi
    native_packages+=("$package")
  done
}

# Installs them if that is wanted. Without them only the rows that need them are set aside, so nothing ends here.
set_up_native() {
  local line="apt-get update && apt-get install -y ${native_packages[*]}"
  local without="Without that, the rows that need it are set aside."
  if ((!${#native_packages[@]})); then return; fi
  if ((parts)); then say ''; fi
  say "This machine lacks what builds a library of a measured agent: ${native_packages[*]}."
  if ! type -P apt-get >/dev/null; then
    say "Install it with your system's package manager. $without"
  elif ((EUID != 0)); then
    say "Type: sudo sh -c '$line'. $without"
  elif [[ ! $yes && (! -t 0 || ! -t 2) ]]; then
    say "Answer with ./tracetax --yes $command …, or type: $line. $without"
  elif ! agreed "$line" "${native_packages[*]}"; then
    say "Nothing was installed. $without"
  else
    part "package lists" apt-get update || :
    part "a compiler" install_packages "${native_packages[@]}" ||
      { say '' && say "Installing it failed: $log says why. $without"; }
  fi
}
