# SPDX-License-Identifier: MIT
# title: Fjorden grip over the kernel's stack: pairing, 10,000 events, loss made good, commands, refusals, forgetting
# lane: 3
# kinds: extended legacy
# limit: 170
FAMILY=fjorden
source "$KERNEL_TESTS/command.sh"
export XDG_STATE_HOME=$CASE_DIR/state

grip() { # ARGUMENT...: one of the commands for a grip, in grip.txt
    timeout 40 "$TENDON" fjorden "$@" --radio bluez --adapter hci0 --json >"$CASE_DIR/grip.txt" 2>"$CASE_DIR/grip.err"
}

# ---- ten thousand events, as fast as the link takes them
device_start --flat-out --notifications 10000
run_stream 60 --pair --notifications 10000
device_wait
check "paired on the way" grep -q '"event":"pairing"' "$CASE_DIR/run.jsonl"
check "10,000 events, none lost, doubled or out of order" /usr/bin/python3 - "$CASE_DIR" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/run.jsonl")]
device = [json.loads(line) for line in open(sys.argv[1] + "/device.jsonl")][-1]
events = [line for line in lines if line["event"] == "grip"]
assert [e["sequence"] for e in events] == [n % 256 for n in range(1, 10001)], "sequence"
assert [e["device_time_ms"] for e in events] == list(range(10000)), "clock"
assert all(e["grip_event"] == "dialButtonCW" and e["count"] == 1 and "lost_before" not in e for e in events)
assert device["samples"] == 10000, device
summary = lines[-1]
assert summary["notifications"] == summary["delivered"] == 10000 and summary["dropped"] == 0, summary
PYTHON

# ---- the session's table: a hand, loss, duplicates, malformed values, battery, switching off, reconnection
cat >"$CASE_DIR/scenario" <<'SCENARIO'
at 1s shutter full
at 1200ms lose 1
at 1300ms shutter released
at 1500ms dial cw 2
at 1800ms duplicate 1
at 1900ms event 0x42
at 2s malformed length
at 2100ms malformed value
at 2200ms lever left
at 2800ms lever neutral
at 3s fn down
at 3700ms fn up
at 3900ms battery 20
at 4100ms power_off
at 8s dial ccw 1
at 9s stop
SCENARIO
device_start --scenario "$CASE_DIR/scenario" --scenario-from connection
run_stream 12 --pair --rule 'grip.event dialButtonCW => grip.led blinkFast 500'
device_wait
check "the session's table" /usr/bin/python3 - "$CASE_DIR" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/run.jsonl")]
device = [json.loads(line) for line in open(sys.argv[1] + "/device.jsonl")][-1]
events = [(e["grip_event"] + (f"({e['button']})" if "button" in e else ""), e.get("lost_before", 0), e.get("synthesized", False)) for e in lines if e["event"] == "grip"]
print(events)
wanted = [("shutterButtonHalfDown", 0, False), ("shutterButtonDown", 0, False), ("dialButtonCW", 1, False),
          ("shutterButtonReleased", 0, True), ("customButtonPress(2)", 0, False), ("zoomLeverHoldLeft", 0, False),
          ("zoomLeverNeutral", 0, False), ("fnButtonLongPress", 0, False), ("batteryLow", 0, False),
          ("poweringOff", 0, False), ("dialButtonCCW", 0, False)]
assert events == wanted, wanted
names = [line["event"] for line in lines]
assert names.count("connected") == 2, "connected again after it went off"
assert any(line["event"] == "battery" and line["battery_percent"] == 20 and line["battery_low"] for line in lines)
assert any(line["event"] == "action" for line in lines), "the rule's action was carried out"
assert device["requests"] == 1 and device["centrals"] == 2, device
summary = lines[-1]
assert summary["malformed"] == 2 and summary["skipped"] == 1, summary
PYTHON

# ---- an application's way: bond, restore, forget
device_start
check "info: pairs, checks the firmware, reads" grip info
check "info: what the grip says" grep -q '"firmware":"1.2.0".*"battery_percent":80' "$CASE_DIR/grip.txt"
check "the bond is kept" grep -q fjorden.bondedGrip.identifier "$XDG_STATE_HOME/tendon/fjorden"
check "watch: restores the bond, without pairing again" grip watch --count 3
check "watch: three events" [ "$(grep -c '"event":"grip"' "$CASE_DIR/grip.txt")" = 3 ]
check "forget" grip forget
check "no bond is left" eval '! grep -q bondedGrip "$XDG_STATE_HOME/tendon/fjorden"'
expect "forget again: there is none" 4 grip forget
device_stop

# ---- what a grip refuses, and what is refused of it
device_start --firmware 0.9.9
expect "firmware that is too old" 1 grip info
check "it says so" grep -q 'too old' "$CASE_DIR/grip.err"
device_stop
rm -rf "$XDG_STATE_HOME"
device_start --pairing required
expect "a grip that is bonded with another host refuses to pair" 1 grip info
check "and that too" grep -q 'RADIO_ERROR_PAIRING_FAILED' "$CASE_DIR/grip.err"
device_stop
expect "no grip in reach" 4 grip info --timeout 3
