#!/bin/bash
# SPDX-License-Identifier: MIT
# The main job on the virtual radio: simulated devices in one process, run in another.
. "$(dirname "$0")/tap.bash"

# A device, decoded. Both ends count the same.
start device simulate bose --radio virtual --address C0:00:00:00:00:01/random --json --notifications 60 --ground-truth "$work/truth"
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
is "$(field dropped "$got")" 0 "run: dropped none"
is "$(printf '%s\n' "$out" | grep -c '"event":"sample"')" "$(field samples "$sent")" "run: one line a sample"
like "$out" '"event":"sample","family":"bose","address":"C0:00:00:00:00:01".*"sensor":"rotation"' "run: who and what"

# The angles are those of the device's script.
printf '%s\n' "$out" >"$work/lines"
python3 - "$work/lines" "$work/truth" >"$work/angles" 2>&1 <<'E2'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
truth = {item["device_time_ms"]: item for item in map(json.loads, open(sys.argv[2]))}
samples = [line for line in lines if line["event"] == "sample"]
worst = max(
    abs((sample[name] - truth[sample["device_time_ms"] % 20000][name] + 180) % 360 - 180)
    for sample in samples for name in ("pitch_deg", "roll_deg", "yaw_deg"))
assert len(samples) > 50, len(samples)
assert max(sample["yaw_deg"] for sample in samples) != min(sample["yaw_deg"] for sample in samples), "it does not move"
clock = [sample["device_time_ms"] for sample in samples]
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
is "$(field dropped "$got")" 0 "flat out: none dropped"

# The reader stops for a while: what it misses is what is counted as dropped.
start paused simulate bose --radio virtual --json --flat-out --notifications 3000
paused=$child
until_true ready paused
slowly 0.5 run --radio virtual --notifications 3000 --queue-size 64 --json --for 8
wait "$paused"
got=$(printf '%s\n' "$out" | grep '"event":"summary"')
lines=$(printf '%s\n' "$out" | grep -c '"event":"sample"')
drops=$(field dropped "$got")
is "$(field notifications "$got")" 3000 "paused reader: the loop went on"
[ "${drops:-0}" -gt 0 ]
result $? "paused reader: samples were dropped" "$got"
is "$((lines + drops))" "$(field samples "$got")" "paused reader: delivered and dropped are all"

run run --radio virtual --json --for 0.5
is "$status" 4 "run without a device: status 4"
finish
