#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the test stages and ends with one line of counts: each test once, see scripts/count_tests.py.
# Usage: scripts/test.sh all|quick|STAGE...
# Each stage is a shell function of scripts/stages.sh that prints TAP lines or the summaries of Meson and Swift
# Testing; its whole output is in $BUILD/logs/STAGE.log, shown when it fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
export BUILD
mkdir -p "$BUILD/logs"
# Bonds of simulated devices are kept apart from the user's, and from those of an earlier run.
export XDG_STATE_HOME=$BUILD/state
rm -rf "$XDG_STATE_HOME"
mkdir -p "$XDG_STATE_HOME"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

case "${1:-}" in
    all) stages=(format house c_sanitized c_clang c_without_bluez cross sizes abi install cloud peers swift swift_main_queue docs package swift_without_bluez \
        command examples phone readme family fuzz proof mutation demo bench kernel) ;;
    quick) stages=(format house c_sanitized) ;;
    "")
        echo "usage: $0 all|quick|STAGE..." >&2
        exit 2
        ;;
    *) stages=("$@") ;;
esac

# What failed in one log, with the reasons printed below it, for the end of the output: there it is read.
failures() {
    awk '
        /^[[:space:]]*not ok |^✘ Test .* failed after/ { print; left = 4; next }
        /^[[:space:]]*#/ && left-- > 0 { print; next }
        { left = 0 }
    ' "$1"
}

total_failed=0
logs=()
rm -f "$BUILD/logs/failures"
for stage in "${stages[@]}"; do
    log=$BUILD/logs/$stage.log
    printf '== %-20s' "$stage"
    started=$SECONDS
    ( set -e; "stage_$stage" ) >"$log" 2>&1
    status=$?
    read -r passed failed skipped < <(python3 scripts/count_tests.py "$log")
    untold=0 # a failure that no line of the log tells
    if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1 untold=1
    elif [ $status -eq 0 ] && [ "$failed" -gt 0 ]; then
        status=1
    elif [ $status -eq 0 ] && [ "$passed" -eq 0 ]; then
        echo "not ok - stage $stage ran no test" >>"$log"
        failed=1 status=1
    fi
    printf '%4d s  %5d passed, %d failed, %d skipped\n' $((SECONDS - started)) "$passed" "$failed" "$skipped"
    if [ $status -ne 0 ]; then
        grep -nE '^[[:space:]]*not ok|✘|error:|ERROR|AddressSanitizer|runtime error' "$log" | head -40
        echo "-- last lines of $log"
        tail -40 "$log"
    fi
    failures "$log" | sed "s/^/$stage: /" >"$log.failures"
    if [ $status -ne 0 ] && [ ! -s "$log.failures" ]; then
        echo "$stage: ended with status $status: $(tail -n 1 "$log")" >"$log.failures"
    fi
    cat "$log.failures" >>"$BUILD/logs/failures"
    grep -hE '^[[:space:]]*ok .*# *SKIP' "$log" | sed 's/^ */   /'
    total_failed=$((total_failed + failed))
    logs+=("$log=$untold")
done
if [ -s "$BUILD/logs/failures" ]; then
    echo "== what failed"
    head -n 25 "$BUILD/logs/failures"
fi
# Each test once: built several ways, or run a second time, it is still one.
python3 scripts/count_tests.py --sum "${logs[@]}"
[ "$total_failed" -eq 0 ]
