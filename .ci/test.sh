#!/bin/sh
# Runs go test, and keeps the programs of the tests in a folder, so that the next run links only what changed: of a run
# with -count=1, linking is a third.
#
#   .ci/test.sh FOLDER PACKAGES FLAGS...     PACKAGES are patterns in one argument: "./exchange ./matrix"
#
# go test names a program by the last element of its package's path, and refuses two of one name. Of packages that share
# it the first one's program is kept; the others are linked in each run. Both are tested side by side: some of the
# others wait most of their time. What the others print follows.
set -eu
kept=$1
patterns=$2
shift 2
mkdir -p "$kept"
packages=$(${GO:-go} list $patterns)
first=$(echo "$packages" | awk -F/ '!seen[$NF]++')
others=$(echo "$packages" | awk -F/ 'seen[$NF]++')
status=0
running=
if [ -n "$others" ]; then
  printed=$(mktemp)
  ${GO:-go} test "$@" $others > "$printed" 2>&1 &
  running=$!
  trap 'kill "$running"; rm -f "$printed"; exit 130' INT TERM # the shell keeps Ctrl-C from what runs in the background
fi
${GO:-go} test -o "$kept/" "$@" $first || status=1
if [ -n "$running" ]; then
  wait "$running" || status=1
  cat "$printed"
  rm "$printed"
fi
exit $status
