#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the test stages and ends with one line of counts: each test once, see scripts/count_tests.py.
# Usage: scripts/test.sh gate|all|quick|STAGE...      docs/testing.md says which to run for which change.
# Each stage is a shell function of scripts/stages.sh that prints TAP lines or the summaries of Meson and Swift
# Testing; its whole output is in $BUILD/logs/STAGE.log, shown when it fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd) || exit 1
export BUILD
mkdir -p "$BUILD/logs"
# A version manager's python3 is a script that looks for the interpreter each time, several hundred times here.
python=$(python3 -c 'import sys; print(sys.executable)') && PATH=${python%/*}:$PATH
# Bonds of simulated devices are kept apart from the user's, and from those of an earlier run.
export XDG_STATE_HOME=$BUILD/state
rm -rf "$XDG_STATE_HOME"
mkdir -p "$XDG_STATE_HOME"
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

# Of `gate` and `all`: what may take long on a busy machine runs beside the others, at the lowest priority. It uses the time in
# which they wait or compile one file. Stages that are joined by + run at the same time.
beside=()
case "${1:-}" in
    gate)
        # The order in which a mistake is found soonest. Beside: what a virtual machine needs, and C, while Swift compiles.
        stages=(format house swift command_gate+kernel_gate readme_gate+gateway_gate demo_gate)
        beside=(kernel_gate_prepare c_clang_gate c_sanitized_gate)
        ;;
    all)
        stages=(format house scripts c_sanitized install cloud peers swift swift_main_queue docs package command python debian release \
            examples gateway phone readme family fuzz demo bench kernel deployed)
        beside=(home_assistant kernel_prepare c_clang sizes abi cross mutation proof)
        ;;
    quick) stages=(format house c_sanitized) ;;
    "")
        echo "usage: $0 gate|all|quick|STAGE..." >&2
        exit 2
        ;;
    *) stages=("$@") ;;
esac

# What failed in one log, with the reasons printed below it, for the end of the output: there it is read.
failures() {
    awk '
        /^[[:space:]]*not ok |^✘ Test .* failed after/ { print; left = 4; next }
        /^[[:space:]]*ok .*# *SKIP|^[^ ]+ Test .* skipped/ && ENVIRON["CI"] != "" { print; left = 0; next }
        /^[[:space:]]*#/ && left-- > 0 { print; next }
        { left = 0 }
    ' "$1"
}

# run_stage STAGE: its log, and beside the log the status, and the seconds that it took: of the clock, then of processors.
run_stage() {
    local log=$BUILD/logs/$1.log started=$SECONDS status user system TIMEFORMAT='%0U %0S'
    # In a shell of its own: what runs beside is not counted when it ends meanwhile.
    ( time { ( set -e; "stage_$1" ) >"$log" 2>&1; } ) 2>"$log.processors"
    status=$?
    read -r user system <"$log.processors"
    echo "$status $((SECONDS - started)) $((user + system))" >"$log.ended"
}

run_beside() {
    local stage
    # Some of their tests have a limit of real time, which this priority may need many times over.
    export TENDON_TIMEOUT_MULTIPLIER=20
    run_stage "${beside[0]}" & # waits for the network most of the time, as the second does
    for stage in "${beside[@]:1}"; do
        run_stage "$stage"
    done
    wait
}

total_failed=0
logs=()
# report STAGE: its line, and what went wrong.
report() {
    local stage=$1 log=$BUILD/logs/$1.log status seconds passed failed skipped
    local untold=0 # a failure that no line of the log tells
    read -r status seconds processors <"$log.ended"
    read -r passed failed skipped < <(python3 scripts/count_tests.py "$log")
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1 untold=1
    elif [ "$status" -eq 0 ] && [ "$failed" -gt 0 ]; then
        status=1
    elif [ "$status" -eq 0 ] && [ "$passed" -eq 0 ]; then
        echo "not ok - stage $stage ran no test" >>"$log"
        failed=1 status=1
    fi
    printf '%4d s (CPU %4d s)  %5d passed, %d failed, %d skipped\n' "$seconds" "$processors" "$passed" "$failed" "$skipped"
    if [ "$status" -ne 0 ]; then
        grep -nE '^[[:space:]]*not ok|✘|error:|ERROR|AddressSanitizer|runtime error' "$log" | head -40
        echo "-- last lines of $log"
        tail -40 "$log"
    fi
    failures "$log" | sed "s/^/$stage: /" >"$log.failures"
    if [ "$status" -ne 0 ] && [ ! -s "$log.failures" ]; then
        echo "$stage: ended with status $status: $(tail -n 1 "$log")" >"$log.failures"
    fi
    cat "$log.failures" >>"$BUILD/logs/failures"
    grep -hE '^[[:space:]]*ok .*# *SKIP' "$log" | sed 's/^ */   /'
    total_failed=$((total_failed + failed))
    logs+=("$log=$untold")
}

# Reports those beside that have ended since the last call; they end in their order.
reported=0
report_beside() {
    while [ $reported -lt ${#beside[@]} ] && [ -e "$BUILD/logs/${beside[reported]}.log.ended" ]; do
        printf '== %-20s' "${beside[reported]} (beside)"
        report "${beside[reported]}"
        reported=$((reported + 1))
    done
}

rm -f "$BUILD/logs/failures" "$BUILD"/logs/*.ended
# in_group COMMAND...: in the background, in a group of its own, so that all of it can be ended or given another priority.
groups=()
in_group() {
    set -m
    "$@" </dev/null &
    groups+=($!)
    set +m
}
trap 'for group in "${groups[@]}"; do kill -- "-$group" 2>/dev/null; done' EXIT
if [ ${#beside[@]} -gt 0 ]; then
    in_group nice -n 19 bash -c "set -uo pipefail; $(declare -f run_stage run_beside); . scripts/stages.sh; beside=(${beside[*]}); run_beside"
    others=${groups[0]}
fi
for entry in "${stages[@]}"; do
    first=${entry%%+*} more=()
    for stage in ${entry//+/ }; do
        [ "$stage" = "$first" ] || { in_group run_stage "$stage" && more+=("${groups[-1]}"); }
    done
    for stage in ${entry//+/ }; do
        printf '== %-20s' "$stage"
        if [ "$stage" = "$first" ]; then run_stage "$stage"; else wait "${more[0]}" && more=("${more[@]:1}"); fi
        report "$stage"
    done
    report_beside
done
if [ ${#beside[@]} -gt 0 ]; then
    [ $reported -eq ${#beside[@]} ] || echo "== waiting for ${beside[*]:reported}"
    renice -n 0 -g "$others" >/dev/null 2>&1 || true # only root may
    wait "$others"
    report_beside
fi
trap - EXIT
if [ -s "$BUILD/logs/failures" ]; then
    echo "== what failed"
    head -n 25 "$BUILD/logs/failures"
fi
# Each test once: built several ways, or run a second time, it is still one.
python3 scripts/count_tests.py --sum "${logs[@]}"
[ "$total_failed" -eq 0 ]
