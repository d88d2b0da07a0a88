#!/bin/bash
# SPDX-License-Identifier: MIT
# In the virtual machine: runs the cases one after the other, each with fresh controllers and nothing left running
# from the one before, and sums up. Its exit status is the run's.
run=$1
# shellcheck disable=SC1091
source "$run/environment"
cd "$PROJECT" || exit 1

if [ -n "$COMMAND" ]; then
    export CASE=command KIND=none
    # shellcheck source=Tests/Kernel/lib.sh
    source "$KERNEL_TESTS/lib.sh"
    eval "$COMMAND"
    exit $?
fi

export SAMPLE # a long case may do less
passed=0 failed=0
failures=()

header() { # NAME FILE DEFAULT: the value of a "# name: value" line
    local value
    value=$(sed -n "s/^# $1: *//p" "$2" | head -n 1)
    echo "${value:-$3}"
}

kinds_of() { # FILE: all of its kinds, or with --sample those of its sample: the first where it names none
    local kinds
    kinds=$(header kinds "$1" legacy)
    [ -z "$SAMPLE" ] || kinds=$(header sample "$1" "${kinds%% *}")
    [ "$kinds" = nothing ] || echo "$kinds"
}

# Everything but kernel threads, the first process and this script.
kill_leftovers() {
    local process id text
    for process in /proc/[0-9]*; do
        id=${process#/proc/}
        { IFS= read -r -d '' text <"$process/cmdline"; } 2>/dev/null # kernel threads have none
        if [ "$id" -gt 1 ] && [ "$id" != $$ ] && [ -n "$text" ]; then
            kill -9 "$id" 2>/dev/null
        fi
    done
    local tries=0
    while compgen -G '/sys/class/bluetooth/hci*' >/dev/null && [ $((tries += 1)) -lt 50 ]; do sleep 0.1; done
    for process in /sys/class/rfkill/*/soft; do
        [ -f "$process" ] && echo 0 >"$process"
    done
    rm -rf /run/dbus /run/tendon
}

# Time that the processors of this machine have worked, in 10 ms: what a case costs its host, whoever else works there.
busy() {
    local name user nice system idle waiting hard soft
    read -r name user nice system idle waiting hard soft _ </proc/stat
    echo $((user + nice + system + hard + soft))
}

run_case() { # FILE KIND
    local file=$1 kind=$2 name code=0 before worked line results=0 limit
    # shellcheck disable=SC2016
    local program='source "$KERNEL_TESTS/lib.sh"; case_begin; source "$0"'
    name=$(basename "$file" .sh)
    [ "$kind" = legacy ] && [ "$(header kinds "$file" legacy)" = legacy ] || name+="/$kind"
    [ "$kind" = none ] && name=$(basename "$file" .sh)
    echo "# --- $name: $(header title "$file" '')"
    before=$(date +%s%N) worked=$(busy)
    # The header says what is plenty on an idle machine.
    limit=$((2 * $(header limit "$file" 60)))
    export CASE=$name KIND=$kind CASE_DIR=$run/$(basename "$file" .sh)-$kind
    mkdir -p "$CASE_DIR"
    # Read up to the status line, not to the end of file: a program that the case left behind may hold the pipe.
    while IFS= read -r line; do
        case $line in
        '@status '*) code=${line#@status } && break ;;
        'ok '*) passed=$((passed + 1)) && results=$((results + 1)) ;;
        'not ok '*) failed=$((failed + 1)) && results=$((results + 1)) && failures+=("$name: ${line#not ok }") ;;
        esac
        echo "$line"
    done < <(
        timeout -k 2 $limit bash -c "$program" "$file" 2>&1 </dev/null
        echo "@status $?"
    )
    if [ $code -eq 124 ] || [ $code -eq 137 ]; then
        echo "not ok $name: ends within $limit s"
        failed=$((failed + 1)) && failures+=("$name: time limit")
    elif [ $code -ne 0 ]; then
        echo "not ok $name: the script ended with status $code"
        failed=$((failed + 1)) && failures+=("$name: status $code")
    elif [ $results -eq 0 ]; then
        echo "not ok $name: printed no result"
        failed=$((failed + 1)) && failures+=("$name: no result")
    fi
    [ -n "$SYSTEM" ] || kill_leftovers # a system of its own has one case
    echo "# $name took $((($(date +%s%N) - before) / 1000000)) ms, its processors $((($(busy) - worked) * 10)) ms"
}

echo "# guest is up after $(cut -d ' ' -f 1 /proc/uptime) s: $(uname -r), $(nproc) CPUs"
# Read by matrix.py.
echo "# machine: $(uname -v | sed -n 's/.*Debian \([^ ]*\).*/\1/p') sockets=$SOCKETS date=$(date -u +%F)"
for file in "${CASES[@]}"; do
    for kind in $(kinds_of "$file"); do
        run_case "$file" "$kind"
    done
done

echo "# kernel tests: $passed ok, $failed not ok"
for failure in "${failures[@]}"; do
    echo "# not ok: $failure"
done
[ $failed -eq 0 ] && [ $passed -gt 0 ]
