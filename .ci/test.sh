#!/bin/sh
# Runs go test, and keeps the programs of the tests in a folder, so that the next run links only what changed: of a run
# with -count=1, linking is a third.
#
#   .ci/test.sh FOLDER PACKAGES FLAGS...     PACKAGES are patterns in one argument: "./exchange ./matrix"
#
# go test names a program by the last element of its package's path, and refuses two of one name. Of packages that share
# it the first one's program is kept; the others, which are small, are linked in each run.
set -eu
kept=$1
patterns=$2
shift 2
mkdir -p "$kept"
packages=$(${GO:-go} list $patterns)
first=$(echo "$packages" | awk -F/ '!seen[$NF]++')
others=$(echo "$packages" | awk -F/ 'seen[$NF]++')
status=0
${GO:-go} test -o "$kept/" "$@" $first || status=1
test -z "$others" || ${GO:-go} test "$@" $others || status=1
exit $status
