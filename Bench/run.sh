#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the benchmarks. A table on the terminal; one JSON object per result in $BUILD/bench.jsonl.
# Usage: Bench/run.sh [--check]
# --check: short runs that only show that each benchmark works and that the data paths make no heap call.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${BUILD:-build}" && cd "${BUILD:-build}" && pwd)
check=${1:-}
questions=(advertisement dispatch bose_record motion read_to_callback)
results=$build/bench.jsonl
rounds=()
[ "$check" = --check ] && rounds=(--quick) && results=$build/bench-check.jsonl
: >"$results"

[ -f "$build/bench/build.ninja" ] ||
    meson setup "$build/bench" . -Dtests=false -Dbench=true -Dbuildtype=release >/dev/null
ninja -C "$build/bench" "${questions[@]/#/Bench/bench_}" >/dev/null

# Instructions of one operation: the difference between two runs of different length, by valgrind's callgrind.
instructions() {
    local program=$1 body=$2 count=$3 total=()
    for n in "$count" $((count * 3)); do
        total+=("$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" --count-only "$n" "$body" 2>&1 |
            sed -n 's/.*Collected : //p')")
    done
    awk -v a="${total[0]}" -v b="${total[1]}" -v n=$((count * 2)) 'BEGIN { printf "%.1f", (b - a) / n }'
}

printf '%-18s %-30s %10s %10s %8s %13s %6s\n' question body ns/op ns-min ratio instructions heap
for question in "${questions[@]}"; do
    program=$build/bench/Bench/bench_$question
    "$program" "${rounds[@]}" | while read -r line; do
        body=$(sed -E 's/.*"name":"([^"]*)".*/\1/' <<<"$line")
        count=20000
        [ "$question" = read_to_callback ] && count=4000
        steps=null
        [ "$check" = --check ] || steps=$(instructions "$program" "$body" "$count")
        line="${line%\}},\"instructions\":$steps}"
        echo "$line" >>"$results"
        awk -v q="$question" -v steps="$steps" '{
            for (i = 1; i <= NF; i++) { split($i, f, ":"); gsub(/[{}"]/, "", f[1]); gsub(/[{}"]/, "", f[2]); v[f[1]] = f[2] }
            printf "%-18s %-30s %10s %10s %8s %13s %6s\n", q, v["name"], v["ns"], v["ns_min"], v["ratio"], steps, v["heap_calls"]
        }' FS=, <<<"$line"
    done
done
if [ -x Bench/run_swift.sh ]; then
    Bench/run_swift.sh "$check" "$results"
fi
if [ "$check" = --check ]; then
    for question in "${questions[@]}"; do
        heap=$(grep "\"bench\":\"$question\"" "$results" | sed -E 's/.*"heap_calls":([0-9]+).*/\1/' | sort -n | tail -1)
        if [ "$heap" = 0 ]; then
            echo "ok - $question runs and makes no heap call"
        else
            echo "not ok - $question: $heap heap calls"
            exit 1
        fi
    done
fi
