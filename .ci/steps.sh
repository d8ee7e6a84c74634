# Steps with times, for .ci/run and the Makefile, which source this file.
#
#   step NAME COMMAND...   runs a command, and remembers how long it took and whether it failed; later steps run anyway
#   report                 prints a row for each step, and returns 1 if one failed

steps_rows=
steps_status=0

step() {
  step_name=$1
  shift
  printf '\n=== %s\n' "$step_name"
  step_began=$(date +%s)
  step_result=ok
  "$@" || { step_result=FAILED; steps_status=1; }
  steps_rows="$steps_rows$(printf '%5d s  %-6s  %s' "$(($(date +%s) - step_began))" "$step_result" "$step_name")
"
}

report() {
  printf '\n%s' "$steps_rows"
  return "$steps_status"
}
