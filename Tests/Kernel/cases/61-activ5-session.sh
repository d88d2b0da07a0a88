# SPDX-License-Identifier: MIT
# title: trainers: the session step by step, refusals, a lost link, the commands by hand
# lane: 2
# limit: 200
source "$KERNEL_TESTS/command.sh"
FAMILY=activ5

# commands_sent FILE: the texts that the program wrote, in order, from a capture.
commands_sent() {
    "$TENDON" replay "$1" --json | sed -n 's/.*"event":"command".*"command":"\([A-Z0-9]*\)!*".*/\1/p' | tr '\n' ' '
}

# The session, step by step: what each side writes and reports.
# The script squeezes at 1 s, when the session may not be there yet, and twice at 8 and 9 s.
cat >"$CASE_DIR/scenario" <<'SCENARIO'
at 11s malformed short 2
at 12s disconnect
SCENARIO
for generation in new legacy; do
    legacy=
    [ $generation = legacy ] && legacy=--legacy
    # shellcheck disable=SC2086
    device_start $legacy --scenario "$CASE_DIR/scenario" --scenario-from connection
    rm -f "$CASE_DIR/session.btsnoop"
    run_stream 18 --measure force,imu --rate 1000 --capture "$CASE_DIR/session.btsnoop"
    device_stop
    check "$generation: the session" /usr/bin/python3 - "$CASE_DIR" $generation <<'PYTHON'
import json, sys
directory, generation = sys.argv[1:]
with open(f"{directory}/run.jsonl", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
device = json.loads(open(f"{directory}/device.jsonl", encoding="utf-8").read().splitlines()[-1])
seen = []
for line in lines:
    name = line["event"] + (f" {line['state']}" if line["event"] == "squeeze" else "")
    if name != "sample" or not seen or seen[-1] != "sample":
        seen.append(name)
print("\n".join(seen), lines[-1], device)
new = generation == "new"
opened = [line for line in lines if line["event"] == "connected"]
assert len(opened) == 2, "a lost link is made again"
for line in opened:
    assert line["generation"] == generation and line["firmware"] == "1.00", line
assert not new or opened[0]["serial"] == "A5-000123" and opened[0]["id"] == "00112233445566", opened
first = seen[:seen.index("disconnected")]
squeezes = [name for name in first if "squeeze" in name]
once = ["squeeze squeezed", "squeeze released"]
twice = once + once + ["double_squeeze"]
assert squeezes in (twice, once + twice), squeezes
assert "sample" in seen[len(first):], "streams again"
malformed = [line for line in lines if line["event"] == "malformed"]
assert len(malformed) == 2, malformed
refused = [line for line in lines if line["event"] == "refused"]
lacking = [line["what"] for line in lines if line["event"] == "missing"]
sensors = {line["sensor"] for line in lines if line["event"] == "sample"}
battery = [line["battery_percent"] for line in lines if line["event"] == "battery"]
if new: # a rate beyond its range is refused by the device; both links tried
    assert [line["request"] for line in refused] == ["write F0FA"] * 2 and not lacking, (refused, lacking)
    assert device["refused_writes"] == 2 and sensors == {"force", "imu"} and battery == [75, 75]
else:
    assert lacking == [["sample_rate", "imu"]] * 2 and not refused and not battery, (lacking, refused, battery)
    assert device["refused_writes"] == 0 and sensors == {"force"}
assert lines[-1]["samples"] == lines[-1]["delivered"] and lines[-1]["dropped"] == 0
PYTHON
    sent=$(commands_sent "$CASE_DIR/session.btsnoop")
    if [ $generation = new ]; then
        wanted="TVGTIME TVGTIME "
    else
        once="TVGTIME ID1 ID2 SN1 SN2 ISOM "
        wanted="$once$once"
    fi
    if [ "$sent" = "$wanted" ]; then ok "$generation: commands, in order: $sent"; else not_ok "$generation: commands: $sent"; fi

    # By hand, a connection each.
    # shellcheck disable=SC2086
    device_start $legacy
    by_hand() { timeout 20 "$TENDON" activ5 "$@" --radio bluez --adapter hci0 --json; }
    expect "$generation: force" 0 by_hand force --count 5
    expect "$generation: tare" 0 by_hand tare
    expect "$generation: watch" 0 by_hand watch --count 5
    lacks=$([ $generation = legacy ] && echo 1 || echo 0)
    expect "$generation: battery" "$lacks" by_hand battery
    expect "$generation: motion" "$lacks" by_hand imu --count 5
    device_stop
done
