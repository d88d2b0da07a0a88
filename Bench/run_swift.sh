#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part of run.sh that needs Swift. Usage: Bench/run_swift.sh CHECK RESULTS
# CHECK: --check or empty, see run.sh. RESULTS: the file that the results are added to.
set -euo pipefail
cd "$(dirname "$0")/.."
check=$1 results=$2
scratch=${BUILD:-.build}/swift
if ! command -v swift >/dev/null; then
    echo "ok - for_await # SKIP no Swift"
    exit 0
fi
scripts/swift_build.sh --scratch-path "$scratch" -c release --static-swift-stdlib -j 2 --product BenchForAwait >"$scratch-bench.log" 2>&1 ||
    { cat "$scratch-bench.log"; exit 1; }
program=$scratch/release/BenchForAwait
options=()
[ "$check" != --check ] || options=(--quick)
lines=$(timeout 120 "$program" ${options[@]+"${options[@]}"}) || { echo "not ok - for_await runs"; exit 1; }
echo "$lines" >>"$results"
# The same in a program whose main queue drives the loop; not in short runs, because it is built a second time.
if [ "$check" != --check ]; then
    scripts/swift_build.sh --scratch-path "$scratch-main" -c release -j 2 --traits BlueZ,MainActorLoop --product BenchForAwait \
        >"$scratch-bench.log" 2>&1 || { cat "$scratch-bench.log"; exit 1; }
    timeout 120 "$scratch-main/release/BenchForAwait" | grep main_queue >>"$results"
fi
scripts/swift_build.sh --scratch-path "$scratch" -c release --static-swift-stdlib -j 2 --product BenchVendors >"$scratch-bench.log" 2>&1 ||
    { cat "$scratch-bench.log"; exit 1; }
vendors=$(timeout 120 "$scratch/release/BenchVendors" ${options[@]+"${options[@]}"}) ||
    { echo "not ok - vendor_sequences runs"; exit 1; }
echo "$vendors" >>"$results"
scripts/swift_build.sh --scratch-path "$scratch" -c release --static-swift-stdlib -j 2 --product BenchLines >"$scratch-bench.log" 2>&1 ||
    { cat "$scratch-bench.log"; exit 1; }
line=$(timeout 120 "$scratch/release/BenchLines" ${options[@]+"${options[@]}"}) || { echo "not ok - line runs"; exit 1; }
echo "$line" >>"$results"
calls=$(grep -E '"name":"line_' <<<"$line" | sed -E 's/.*"heap_calls":([0-9]+).*/\1/' | sort -n | tail -1)
if [ "$calls" = 0 ]; then
    echo "ok - line: a line of output makes no heap call"
else
    echo "not ok - line: $calls heap calls"
    exit 1
fi
[ "$check" = --check ] || exit 0
status=0
while read -r name heap; do
    if [ "$heap" = 0 ]; then
        echo "ok - vendor_sequences: $name makes no heap call"
    else
        echo "not ok - vendor_sequences: $name: $heap heap calls"
        status=1
    fi
done < <(sed -E 's/.*"name":"([a-z0-9_]+)".*"heap_calls":([0-9]+).*/\1 \2/' <<<"$vendors")
heap=$(grep -E '"name":"(bare_loop|c_callback|for_await_on_loop)"' <<<"$lines" |
    sed -E 's/.*"heap_calls":([0-9]+).*/\1/' | sort -n | tail -1)
if [ "$heap" = 0 ]; then
    echo "ok - for_await on the loop's executor runs and makes no heap call"
else
    echo "not ok - for_await on the loop's executor: $heap heap calls"
    status=1
fi
# Gateways as processes, with a broker.
scripts/swift_build.sh --scratch-path "$scratch" -c release --static-swift-stdlib -j 2 --product tendon >"$scratch-bench.log" 2>&1 ||
    { cat "$scratch-bench.log"; exit 1; }
# What a user of the command pays, beside a program in C.
ninja -j2 -C "${BUILD:-.build}/bench" Bench/bench_sample_output >"$scratch-bench.log" 2>&1 || { cat "$scratch-bench.log"; exit 1; }
costs=$(python3 Bench/user_cost.py "$scratch/release/tendon" "${BUILD:-.build}/bench/Bench/bench_sample_output" ${check:+"$check"}) ||
    { echo "not ok - user_cost runs"; status=1; }
grep '^{' <<<"$costs" >>"$results" || true
grep '^ok' <<<"$costs" || true
delays=$(python3 Bench/osc_delay.py "$scratch/release/tendon" "${BUILD:-.build}/bench/Bench/bench_sample_output" ${check:+"$check"}) ||
    { echo "not ok - osc_delay runs"; status=1; }
grep '^{' <<<"$delays" >>"$results" || true
grep '^ok' <<<"$delays" || true
if [ "$check" = --check ]; then
    python3 Bench/fleet/fleet.py "$scratch/release/tendon" --check || status=1
else
    python3 Bench/fleet/fleet.py "$scratch/release/tendon" >>"$results" || status=1
fi
exit "$status"
