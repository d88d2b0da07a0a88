#!/bin/bash
# SPDX-License-Identifier: MIT
# The main job on the virtual radio: simulated devices in one process, run in another.
. "$(dirname "$0")/tap.bash"

field() { # name, JSON line
    printf '%s' "$2" | grep -oE "\"$1\":(\"[^\"]*\"|[-0-9.e+]+|true|false|null)" | head -n 1 | cut -d: -f2- | tr -d '"'
}
summary() { grep '"event":"summary"' "$1" | tail -n 1; }
ready() { grep -q '"event":"ready"' "$work/$1.out"; }

# A device, decoded. Both ends count the same.
start device simulate bose --radio virtual --address C0:00:00:00:00:01/random --json --notifications 60 --truth "$work/truth"
device=$child
until_true ready device
result $? "simulate says when it is ready" "$(cat "$work/device.err")"
run run --radio virtual --notifications 60 --json --for 8
is "$status" 0 "run: done"
wait "$device"
is $? 0 "simulate: done"
sent=$(summary "$work/device.out") got=$(printf '%s\n' "$out" | grep '"event":"summary"')
is "$(field notifications "$sent")" 60 "simulate: stops after as many notifications as told"
is "$(field notifications "$got")" 60 "run: has them all"
is "$(field samples "$got")" "$(field samples "$sent")" "run: has all samples"
is "$(field drops "$got")" 0 "run: dropped none"
is "$(printf '%s\n' "$out" | grep -c '"event":"sample"')" "$(field samples "$sent")" "run: one line a sample"
like "$out" '"event":"sample","family":"bose","address":"C0:00:00:00:00:01".*"sensor":"rotation"' "run: who and what"

# The angles are those of the device's script.
printf '%s\n' "$out" >"$work/lines"
python3 - "$work/lines" "$work/truth" >"$work/angles" 2>&1 <<'E2'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
truth = {item["device_ms"]: item for item in map(json.loads, open(sys.argv[2]))}
samples = [line for line in lines if line["event"] == "sample"]
worst = max(
    abs((sample[name] - truth[sample["device_ms"] % 20000][name] + 180) % 360 - 180)
    for sample in samples for name in ("pitch_deg", "roll_deg", "yaw_deg"))
assert len(samples) > 50, len(samples)
assert max(sample["yaw_deg"] for sample in samples) != min(sample["yaw_deg"] for sample in samples), "it does not move"
clock = [sample["device_ms"] for sample in samples]
assert clock == sorted(clock), "order"
assert worst < 0.05, worst
E2
result $? "run: every angle is the script's" "$(cat "$work/angles")"

# Flat out, with a small sequence: what is not delivered is counted.
start flat simulate bose --radio virtual --json --flat-out --notifications 3000
flat=$child
until_true ready flat
run run --radio virtual --notifications 3000 --json --for 8
wait "$flat"
sent=$(summary "$work/flat.out") got=$(printf '%s\n' "$out" | grep '"event":"summary"')
is "$(field notifications "$sent") $(field notifications "$got")" "3000 3000" "flat out: all 3000 at both ends"
is "$(field drops "$got")" 0 "flat out: none dropped"

# The consumer stops for a while: what it misses is what the sequence says it dropped.
start paused simulate bose --radio virtual --json --flat-out --notifications 3000
paused=$child
until_true ready paused
run run --radio virtual --notifications 3000 --capacity 64 --pause-consumer-at 100 --pause-for 0.5 --json --for 8
wait "$paused"
got=$(printf '%s\n' "$out" | grep '"event":"summary"')
lines=$(printf '%s\n' "$out" | grep -c '"event":"sample"')
drops=$(field drops "$got")
is "$(field notifications "$got")" 3000 "paused consumer: the loop went on"
[ "${drops:-0}" -gt 0 ]
result $? "paused consumer: the sequence dropped" "$got"
is "$((lines + drops))" "$(field samples "$got")" "paused consumer: delivered and dropped are all"

# Scenario: gestures, suspension, a lost link.
cat >"$work/scenario" <<'E2'
at 300ms gesture double_tap
at 500ms suspend voice_assistant
at 700ms resume
at 900ms disconnect
at 2500ms gesture affirmative
at 2800ms stop
E2
start played simulate bose --radio virtual --json --scenario "$work/scenario" --scenario-from connection
played=$child
until_true ready played
run run --radio virtual --gestures all --json --for 3.5
wait "$played"
like "$out" '"event":"gesture".*"gesture":"double_tap"' "scenario: a gesture"
like "$out" '"event":"suspended".*"reason":"voice_assistant"' "scenario: suspended, with its reason"
like "$out" '"event":"resumed"' "scenario: resumed"
like "$out" '"event":"closed"' "scenario: the link is lost"
is "$(printf '%s\n' "$out" | grep -c '"event":"opened"')" 2 "scenario: run connects again"
like "$out" '"event":"gesture".*"gesture":"affirmative"' "scenario: and streams again"

# Faults do not hurt.
start faulty simulate bose --radio virtual --json --flat-out --notifications 500 \
    --fault garbage=5%,truncate=5%,notifications_only --seed 7
faulty=$child
until_true ready faulty
run run --radio virtual --json --for 2
is "$status" 0 "faults: run ends well"
like "$(printf '%s\n' "$out" | grep '"event":"summary"')" '"(malformed|skipped)":[1-9]' "faults: what was spoiled is counted"
wait "$faulty"

# Two devices, and an address chosen.
start two simulate bose --radio virtual --json --count 2 --address C0:00:00:00:00:10/random
two=$child
until_true eval '[ "$(grep -c ready "$work/two.out")" = 2 ]'
run run --radio virtual --json --for 1.5
is "$(printf '%s\n' "$out" | grep '"event":"opened"' | sort -u | wc -l)" 2 "two devices: both are opened"
run run --radio virtual --address C0:00:00:00:00:11 --json --for 1.5
is "$(printf '%s\n' "$out" | grep '"event":"opened"' | grep -o 'C0:[0-9A-F:]*' | sort -u)" C0:00:00:00:00:11 "--address: that one only"
kill -INT "$two"
wait "$two"
is $? 0 "Ctrl-C ends simulate with status 0"
is "$(grep -c '"event":"summary"' "$work/two.out")" 2 "Ctrl-C: the counters are printed"

run run --radio virtual --json --for 0.5
is "$status" 4 "run without a device: status 4"
run simulate bose --radio virtual --scenario "$work/missing"
is "$status" 1 "a scenario that is not there"
echo 'at 1s dance' >"$work/bad"
run simulate bose --radio virtual --scenario "$work/bad"
is "$status" 2 "a scenario that is wrong: usage"
like "$err" "line 1" "a scenario that is wrong: says where"
run simulate bose --radio virtual --fault explode=1
is "$status" 2 "a fault that is none: usage"
finish
