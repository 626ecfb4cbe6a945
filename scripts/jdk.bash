# Finds a JDK of release 17 or newer: JAVA_HOME, then PATH, then /usr/lib/jvm. Sourced by ./tracetax.

# What changes every JVM or compiler that is started, and makes it print a line more.
java_traps=(JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS _JAVA_OPTIONS)

# Prints the feature release of the JDK in folder $1; fails where there is none with a compiler.
jdk_release() {
  local line='' version=''
  [[ -x $1/bin/java && -x $1/bin/javac ]] || return 1
  if [[ -r $1/release ]]; then
    while read -r line; do
      if [[ $line == JAVA_VERSION=* ]]; then version=${line#*=}; fi
    done <"$1/release"
  fi
  if [[ ! $version ]]; then version=$(unset "${java_traps[@]}"; "$1/bin/javac" -version 2>&1) || return 1; fi
  version=${version//[!0-9._]/}
  version=${version#1.} # 1.8.0 is release 8
  release=${version%%[._]*}
  [[ $release ]]
}

# Sets JAVA_HOME and puts its bin first on PATH; unsets JAVA_HOME and fails where there is no such JDK.
find_jdk() {
  local folder='' release='' on_path
  on_path=$(type -P javac) && on_path=$(readlink -f -- "$on_path")
  for folder in "${JAVA_HOME:-}" "${on_path%/bin/javac}" /usr/lib/jvm/*; do
    if [[ $folder ]] && jdk_release "$folder" && ((release >= 17)); then
      export JAVA_HOME=$folder PATH=$folder/bin:$PATH
      return
    fi
  done
  unset JAVA_HOME
  return 1
}
