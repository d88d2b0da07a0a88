#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the benchmarks. A table on the terminal; one JSON object per result in $BUILD/bench.jsonl.
# Usage: Bench/run.sh [--check]
# --check: short runs that only show that each benchmark works and that the data paths make no heap call; TAP.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-.build}" && cd "${BUILD:-.build}" && pwd)
check=${1:-}
questions=(advertisement arrival dispatch bose_record feelspace activ5 fjorden motion obvious ota_goodput read_to_callback eight_a_wake_up one_a_wake_up
    round_trips)
results=$build/bench.jsonl
options=()
[ "$check" = --check ] && options=(--quick) && results=$build/bench-check.jsonl
: >"$results"

[ -f "$build/bench/build.ninja" ] ||
    meson setup "$build/bench" . -Dtests=false -Dbench=true -Dbuildtype=release >/dev/null
ninja -j2 -C "$build/bench" "${questions[@]/#/Bench/bench_}" >"$build/bench.log" || { cat "$build/bench.log"; exit 1; }

# Instructions of one operation: the difference between two runs of different length, by valgrind's callgrind.
instructions() {
    local program=$1 body=$2 count=$3 total=()
    for n in "$count" $((count * 3)); do
        total+=("$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" --count-only "$n" "$body" 2>&1 |
            sed -n 's/.*Collected : //p')")
    done
    awk -v a="${total[0]}" -v b="${total[1]}" -v n=$((count * 2)) 'BEGIN { printf "%.1f", (b - a) / n }'
}

# One question: its lines with the instructions added, to the file of results.
measure() {
    local question=$1 program=$build/bench/Bench/bench_$1 lines line body steps count=20000
    [[ $question = read_to_callback || $question = *_a_wake_up ]] && count=4096
    lines=$("$program" ${options[@]+"${options[@]}"}) || return 1
    while read -r line; do
        body=$(sed -E 's/.*"name":"([^"]*)".*/\1/' <<<"$line")
        steps=null
        # An upgrade verifies signatures and waits for sockets, round trips are simulated: instructions say nothing.
        [ "$check" = --check ] || [[ $question = ota_goodput || $question = round_trips ]] || steps=$(instructions "$program" "$body" "$count")
        echo "${line%\}},\"instructions\":$steps}" >>"$results"
    done <<<"$lines"
}

# The value of a field in each line of a question.
field() {
    { grep "\"bench\":\"$1\"" "$results" || true; } | sed -E "s/.*\"$2\":\"?([^,\"}]*).*/\1/"
}

status=0
tap() {
    [ "$1" = ok ] || status=1
    [ "$check" != --check ] || echo "$1 - $2"
}

for question in "${questions[@]}"; do
    if ! measure "$question"; then
        tap "not ok" "$question runs"
        continue
    fi
    heap=$(field "$question" heap_calls | sort -n | tail -1)
    if [ "$heap" = 0 ]; then
        tap ok "$question runs and makes no heap call"
    else
        tap "not ok" "$question: $heap heap calls"
    fi
done
calls=$(field one_a_wake_up system_calls | tr '\n' ' ')
if [ "$calls" = "3 2 " ]; then
    tap ok "one packet a wake-up: two system calls, of a bare loop three"
else
    tap "not ok" "one packet a wake-up: system calls of bare loop and ours: $calls"
fi
if [ -x Bench/run_swift.sh ]; then
    Bench/run_swift.sh "$check" "$results" || status=1
fi
if [ "$check" != --check ]; then
    row='%-18s %-30s %10s %10s %11s %6s %8s %13s %8s %6s\n'
    # shellcheck disable=SC2059
    printf "$row" question body ns/op ns-min items/s bytes ratio instructions syscalls heap
    while read -r line; do
        values=()
        for name in bench name ns ns_min items_per_s bytes ratio instructions system_calls heap_calls; do
            values+=("$(sed -E "/\"$name\":/!s/.*/-/; s/.*\"$name\":\"?([^,\"}]*).*/\1/" <<<"$line")")
        done
        # shellcheck disable=SC2059
        printf "$row" "${values[@]}"
    done <"$results"
fi
exit $status
