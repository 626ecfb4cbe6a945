_tracetax() {
  local line=${COMP_LINE:0:COMP_POINT} word found
  word=${line##* }
  mapfile -t found < <("${1/#\~/$HOME}" complete "$line" 2>/dev/null)
  COMPREPLY=("${found[@]#"${word%"${word##*[=:]}"}"}")
}
complete -o default -F _tracetax tracetax
