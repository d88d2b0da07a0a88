#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the tests of the command, several at a time, because they wait most of the time. Prints their results one after the
# other. Usage: run.bash [JOBS]; TENDON and CONFORMANCE as in tap.bash; LEAVE_OUT: scripts that are not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
jobs_count=${1:-6}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs

one() { # script
    local name begun=$SECONDS
    name=$(basename "$1" .sh)
    bash "$1" >"$logs/$name.log" 2>&1 || echo "$name" >>"$logs/failed"
    echo "# $name: $((SECONDS - begun)) s" >>"$logs/$name.log"
}
export -f one

# The largest script takes longest: it begins first.
left_out=()
for name in ${LEAVE_OUT:-}; do left_out+=(! -name "$name"); done
find "$here" -name '*.sh' "${left_out[@]}" -printf '%s %p\n' | sort -rn | cut -d' ' -f2- |
    xargs -P "$jobs_count" -I{} bash -c 'one "$1"' one {}
cat "$logs"/*.log
[ ! -e "$logs/failed" ]
