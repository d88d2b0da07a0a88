# SPDX-License-Identifier: MIT
# title: configuration changes, suspension, a lost link: all reported, in order
# kinds: extended legacy
# limit: 90
source "$KERNEL_TESTS/command.sh"

cat >"$CASE_DIR/scenario" <<'SCENARIO'
at 6s suspend voice_assistant
at 6500ms resume
at 7s gesture double_tap
at 7500ms disconnect
SCENARIO
device_start --scenario "$CASE_DIR/scenario" --scenario-from connection
# The scenario counts from the connection, whenever that comes: the run ends when it has seen all of it.
"$TENDON" run --radio bluez --adapter hci0 --json --for 100 --period 40 --gestures double_tap \
    >"$CASE_DIR/run.jsonl" 2>"$CASE_DIR/run.err" &
run=$!
streams_again() { # on its second connection, after all events that a connection begins with
    awk '/"event":"connected"/ { links++ } links == 2 && /"event":"sample"/ { samples++ }
        links == 2 && /"event":"gesture_configuration"/ { told++ } END { exit samples < 5 || !told }' "$CASE_DIR/run.jsonl"
}
check "it streams again" wait_for 90 streams_again
kill -INT $run
wait $run
check "run ends well" test $? -eq 0
device_stop
check "the events, in order" /usr/bin/python3 - "$CASE_DIR/run.jsonl" <<'PYTHON'
import json, sys
told, clock = [], []
for line in map(json.loads, open(sys.argv[1])):
    name = line["event"]
    if name == "connected":
        clock.append([])
    elif name == "sample":
        clock[-1].append(line["device_time_ms"])
    if name == "suspended":
        name += " " + line["reason"]
    elif name == "gesture":
        name += " " + line["gesture"]
    elif name == "sensor_configuration":
        name += " " + ",".join(line["enabled"]) + " " + str(line["period_ms"])
    elif name == "gesture_configuration":
        name += " " + ",".join(line["enabled"])
    told.append(name)
print("\n".join(name for name in told if name != "sample"))
links = [i for i, name in enumerate(told) if name == "connected"]
assert len(links) == 2, "opened twice"
first, second = told[:links[1]], told[links[1]:]
# Samples have a queue of their own, and the parameters of connections are looked at once a second, so both may stand
# anywhere between the others; all else is in order, and once.
anywhere = ("sample", "connection_parameters")
sensors, gestures = "sensor_configuration rotation 40", "gesture_configuration double_tap"
# A busy machine may be too late for the first attempt to connect again.
assert [name for name in first if name not in (*anywhere, "connect_failed")] == [
    "found", "connected", sensors, gestures, "suspended voice_assistant", "resumed", sensors, "gesture double_tap", "disconnected"]
assert [name for name in second if name not in (*anywhere, "disconnected")] == ["connected", sensors, gestures, "summary"]
# By the device's own clock: none is of the suspension, which took 500 ms, and there is no other gap like that.
gaps = [[later - earlier for earlier, later in zip(times, times[1:]) if later - earlier > 400] for times in clock]
print(gaps)
assert len(gaps[0]) == 1 and 460 <= gaps[0][0] and gaps[1] == [], "streams while suspended, or not at other times"
assert first[:first.index("suspended voice_assistant")].count("sample") > 10, "streams"
assert first[first.index("resumed"):].count("sample") > 5, "streams when it was resumed"
PYTHON
check "the device saw one central come twice" grep -q '"event":"summary".*"centrals":2' "$CASE_DIR/device.jsonl"

# A configuration that is changed, read back by another program over a new connection each time.
configure() {
    timeout 20 "$TENDON" bose configure --radio bluez --adapter hci0 --json --sensors rotation,accelerometer \
        --period "$1" --gestures affirmative >"$CASE_DIR/configured.json"
}
device_start
for period in 20 320 80; do
    check "configured: $period ms" configure $period
    check "read back: $period ms" grep "\"period_ms\":$period\\b" "$CASE_DIR/configured.json"
done
device_stop
