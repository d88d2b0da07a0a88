#!/bin/bash
# SPDX-License-Identifier: MIT
# run --lsl: a simulated head, received by pylsl with the liblsl that it brings. TENDON_LSL_SECONDS (default 3): how long samples
# are compared before the gateway is killed, and again after it.
. "$(dirname "$0")/tap.bash"
PYTHONPATH=$("$root/scripts/python_package.sh" pylsl 1.18.6) || { echo "Bail out! no pylsl"; exit 1; }
export PYTHONPATH
library=$PYTHONPATH/pylsl/lib/liblsl.so
tool="$root/Tests/Command/check_lsl.py"
seconds=${TENDON_LSL_SECONDS:-3}
limit=$((120 + 2 * seconds))
# A receiver that looks for its stream again does not look at the session: nobody else here may have the same source.
head=$(printf 'C0:00:00:1F:%02X:%02X' $(($$ >> 8 & 255)) $(($$ & 255)))

export LSLAPICFG=$work/lsl_api.cfg
lsl_of_this_test >"$LSLAPICFG"

now() { python3 -c 'import time; print(time.monotonic())'; }
# A line whose text has a stamp that comes later than the time.
later() { # STREAM TIME [TEXT]
    python3 -c 'import json, sys
rows = [json.loads(row) for row in open(sys.argv[1]) if row.endswith("\n")]
sys.exit(not any(row["time"] > float(sys.argv[2]) and sys.argv[3] in row["values"][0] for row in rows))' "$work/received/studio $1.jsonl" "$2" "${3:-}"
}
rows_after() { # STREAM TIME COUNT
    python3 -c 'import json, sys
rows = [json.loads(row) for row in open(sys.argv[1]) if row.endswith("\n")]
sys.exit(sum(row["time"] > float(sys.argv[2]) for row in rows) < int(sys.argv[3]))' "$work/received/studio $1.jsonl" "$2" "$3"
}

printf '[device %s random]\nname = studio\n[lsl]\nstreams = yes\nlibrary = %s\n' "$head" "$library" >"$work/tendon.conf"
for at in 2 3 4 5 6 7 8; do echo "at ${at}s gesture double_tap"; done >"$work/taps"
start devices simulate bose --radio virtual --json --address "$head/random" --scenario "$work/taps" --scenario-from connection
devices=$child
until_true ready devices
gateway() { # NAME
    start "$1" run --radio virtual --pair --json --config "$work/tendon.conf" --sensors rotation,accelerometer
    gateway=$child
}
gateway first
timeout "$limit" python3 "$tool" receive "$work/received" 3 2>"$work/received.err" &
receiver=$!
children+=("$receiver")
until_true test -e "$work/received/ready"
result $? "a stream for each sensor, and one for events" "$(ls "$work/received" 2>&1; tail -n 5 "$work/first.err" "$work/received.err")"
apart=$(cat "$work/received/clock")
python3 -c 'import sys; sys.exit(float(sys.argv[1]) > 0.001)' "$apart"
result $? "the clock of liblsl is CLOCK_MONOTONIC" "$apart s apart"
python3 "$tool" headers "$work/received" "$head" >"$work/headers" 2>&1
results "$work/headers"

begin=$(now)
sleep "$seconds"
until_true rows_after rotation "$begin" $((seconds * 45))
until_true later markers 0 "gesture double_tap"
result $? "a gesture is a marker" "$(cat "$work/received/studio markers.jsonl")"
gesture=$(grep -m1 '"event":"gesture"' "$work/first.out" | grep -o '"sampled_at":[0-9.]*' | cut -d: -f2)
python3 -c 'import json, sys
times = [json.loads(row)["time"] for row in open(sys.argv[1]) if "gesture" in row]
lines = [json.loads(line).get("sampled_at") for line in open(sys.argv[2]) if "\"event\":\"gesture\"" in line]
sys.exit(not times or not all(any(line and abs(line - time) < 1.1e-6 for line in lines) for time in times))' \
    "$work/received/studio markers.jsonl" "$work/first.out"
result $? "its time is when the device noticed it" "first: $gesture; $(cat "$work/received/studio markers.jsonl")"
kill -KILL "$(pgrep -P "$gateway" | head -n 1)"
wait "$gateway" 2>/dev/null
killed=$(now)
for sensor in rotation accelerometer; do
    # The last line may be half a line.
    python3 "$tool" compare "$work/received" "$work/first.out" "$sensor" "$begin" "$(python3 -c "print($killed - 0.5)")" >"$work/compared" 2>&1
    results "$work/compared"
done

# The receiver keeps its streams: it finds them again by their source.
gateway second
until_true rows_after rotation "$killed" 10
result $? "after kill -9 and a restart the same receiver goes on" "$(tail -3 "$work/second.err")"
again=$(now)
sleep "$seconds"
until_true rows_after rotation "$again" $((seconds * 45))
end=$(now)
for sensor in rotation accelerometer; do
    python3 "$tool" compare "$work/received" "$work/second.out" "$sensor" "$again" "$(python3 -c "print($end - 0.2)")" >"$work/compared" 2>&1
    results "$work/compared"
done
python3 "$tool" residual "$work/received" rotation >"$work/compared" 2>&1
results "$work/compared"

# A connection that is lost, and back.
kill "$devices"
wait "$devices" 2>/dev/null
until_true later markers "$end" "disconnected"
result $? "a lost connection is a marker" "$(tail -2 "$work/received/studio markers.jsonl")"
lost=$(now)
start back simulate bose --radio virtual --json --address "$head/random"
until_true ready back
until_true later markers "$lost" "connected"
result $? "and its return" "$(tail -2 "$work/received/studio markers.jsonl")"
until_true rows_after rotation "$lost" 10
result $? "in the streams that there were" "$(tail -2 "$work/second.out")"
is "$(grep -c '^' "$work/second.err")" "$(grep -c 'INFO' "$work/second.err")" "nothing is wrong"
kill -INT "$gateway"
wait "$gateway"
is $? 0 "the end"
kill "$receiver"

# Without --lsl the library is not even opened.
start without run --radio virtual --json --for 20
until_true grep -q '"event":"connected"' "$work/without.out"
is "$(grep -c liblsl "/proc/$(pgrep -P "$child" | head -n 1)/maps")" 0 "without --lsl nothing of it is in the process"
kill -INT "$child"
wait "$child"

# Mistakes.
run run --radio virtual --for 0.1 --lsl --lsl-library /nowhere/liblsl.so
is "$status" 1 "a library that is not there: status 1"
like "$err" "lsl: liblsl cannot be opened: /nowhere/liblsl.so: " "and why"
run run --radio virtual --for 0.1 --lsl --lsl-library libc.so.6
like "$err" "libc.so.6 is no liblsl that can be used: it has no lsl_create_streaminfo" "another library"
run run --radio virtual --for 0.1 --lsl-library "$library"
is "$status" 2 "a library for nothing: status 2"
like "$err" "lsl-library needs --lsl" "and why"
printf '[lsl]\nlibrary = /usr/lib/liblsl.so\n' >"$work/mistake.conf"
run config check "$work/mistake.conf"
is "$status" 2 "a configuration with that mistake: status 2"
like "$err$out" "mistake.conf:2: .*library needs streams" "its line, with the keys of the file"
run config check "$work/tendon.conf"
is "$status" 0 "a configuration without one"
finish
