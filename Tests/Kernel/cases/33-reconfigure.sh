# SPDX-License-Identifier: MIT
# title: configuration changes, suspension, a lost link: all told, in order
# kinds: legacy extended
# limit: 60
source "$KERNEL_TESTS/command.sh"

cat >"$CASE_DIR/scenario" <<'SCENARIO'
at 3s suspend voice_assistant
at 3500ms resume
at 4s gesture double_tap
at 4500ms disconnect
at 9s stop
SCENARIO
device_start --scenario "$CASE_DIR/scenario" --scenario-from connection
run_stream 9 --period 40 --gestures double_tap
device_wait
# What happens, without the samples; then where in it samples came.
check "the events, in order" /usr/bin/python3 - "$CASE_DIR/run.jsonl" <<'PYTHON'
import json, sys
seen, late = [], 0
for line in map(json.loads, open(sys.argv[1])):
    name = line["event"]
    if name in ("suspended",):
        name += " " + line["reason"]
    elif name == "gesture":
        name += " " + line["gesture"]
    elif name == "sensor_configuration":
        name += " " + ",".join(line["enabled"]) + " " + str(line["period_ms"])
    elif name == "gesture_configuration":
        name += " " + ",".join(line["enabled"])
    if name == "sample" and "suspended voice_assistant" in seen and "resumed" not in seen:
        late += 1
    if name != "sample" or seen[-1] != "sample":
        seen.append(name)
# Samples have a queue of their own: one or two that came before the suspension may be printed after it. A device that
# streams on would send 12 of them.
assert late <= 2, f"{late} samples while suspended"
configured = ["sensor_configuration rotation 40", "gesture_configuration double_tap"]
print("\n".join(seen))
links = [i for i, name in enumerate(seen) if name == "opened"]
assert len(links) == 2, "opened twice"
first = [name for name in seen[:links[1]] if name not in configured]
# A busy machine tells of a configuration between two samples.
first = [name for i, name in enumerate(first) if name != "sample" or i == 0 or first[i - 1] != "sample"]
if first[4:6] == ["sample", "resumed"]:
    del first[4]
assert first == ["found", "opened", "sample", "suspended voice_assistant", "resumed", "sample", "gesture double_tap", "sample",
                 "closed"], first
assert "sample" in seen[links[1]:], "streams again"
for name in configured:
    assert name in seen[links[0]:links[1]], name
    assert name in seen[links[1]:], name + ", again"
assert seen[-1] == "summary"
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
