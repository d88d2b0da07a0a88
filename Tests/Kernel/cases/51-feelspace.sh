# SPDX-License-Identifier: MIT
# title: belts of both generations: commands byte for byte, 10,000 orientations, buttons, power-off, refusals
# lane: 2
# limit: 480
source "$KERNEL_TESTS/command.sh"
FAMILY=feelspace

belt() { # ARGUMENT...: `tendon feelspace ...` against the simulated belt
    timeout -k 5 60 "$TENDON" feelspace "$@" --radio bluez --adapter hci0 --timeout 40
}

value() { # MEMBER ARGUMENT...: that member of what the belt's command prints
    local member=$1
    shift
    belt "$@" | sed -n "s/.*\"$member\":\"\{0,1\}\([^,}\"]*\).*/\1/p"
}

received() { # CHARACTERISTIC: what the belt got there
    sed -n "s/.*\"characteristic\":\"$1\",\"bytes\":\"\([^\"]*\)\".*\"outcome\":\"\([^\"]*\)\".*/\1 \2/p" \
        "$CASE_DIR/device.jsonl"
}

last_was() { # CHARACTERISTIC TEXT
    [ "$(received "$1" | tail -n 1)" = "$2" ]
}

flat_out() { # GENERATION COUNT: every heading, a degree further each
    device_start --flat-out --notifications "$2" --generation "$1"
    run_stream 300 --pair --notifications "$2" --no-reconnect
    device_wait
    check "generation $1: $2 orientations, none lost" /usr/bin/python3 - "$CASE_DIR" "$2" <<'PYTHON'
import json, sys
wanted = int(sys.argv[2])
def read(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
lines, sent = read("run.jsonl"), read("device.jsonl")[-1]
summary = lines[-1]
print(summary, sent)
headings = [line["heading_deg"] % 360 for line in lines if line["event"] == "sample"]
assert sent["orientations"] == wanted and sent["lost"] == 0, "the belt's counters"
assert summary["notifications"] == summary["delivered"] == len(headings) == wanted, "all of them arrived"
assert summary["dropped"] == 0 and summary["malformed"] == 0, "none lost"
assert headings == [n % 360 for n in range(wanted)], "in order"
PYTHON
}

count=10000
[ -z "$SAMPLE" ] || count=2000
flat_out 1 $count
flat_out 2 $count

# Commands, byte for byte.
device_start
check "mode: told" test "$(value mode mode)" = wait
for row in "compass 02" "crossing 06" "pause 04" "wait 01"; do
    read -r name code <<<"$row"
    check "mode $name" test "$(value mode mode "$name")" = "$name"
    check "mode $name: the bytes" last_was fe05 "0181${code}00 taken"
done
check "intensity 40" test "$(value intensity_percent intensity 40)" = 40
check "vibrate" belt vibrate --bearing 90 --pattern continuous --intensity 40 --for 0.5
check "vibrate: the bytes, in app mode" grep -qx '010128000000035a000000fff40100000000 taken' <(received fe03)
check "signal" belt signal warning
check "signal: the bytes" last_was fe03 '2000 taken'
check "stop" belt stop
check "stop: the bytes, in app mode" last_was fe03 '30ff taken'
check "navigate" belt navigate --angle 90 --for 3
check "navigate: the bytes" grep -qx '0201aaaa0000025a00000000f40100000000 taken' <(received fe03)
device_stop
check "nothing of this was ignored or refused" \
    grep -q '"ignored":0,"refused_writes":0' <(grep summary "$CASE_DIR/device.jsonl")

# What the belt does by itself: buttons, battery, and off.
cat >"$CASE_DIR/scenario" <<'EVENTS'
at 8s   press compass
at 9s   battery 12 charging
at 10s  malformed cut
at 10s  mode wait
at 12s  press power long
EVENTS
device_start --scenario "$CASE_DIR/scenario" --scenario-from connection
run_stream 30 --pair --no-reconnect
for event in '"event":"button","family":"feelspace".*"button":"compass","press":"short","previous_mode":"wait","mode":"compass"' \
    '"event":"battery".*"battery_percent":12.*"power_status":"charging"' '"event":"malformed"' \
    '"event":"disconnected".*"reason":"connection_lost"'; do
    check "told: $event" grep -q "$event" "$CASE_DIR/run.jsonl"
done
device_stop

# Refusals are reported.
printf 'at 0s silent on\n' >"$CASE_DIR/scenario"
device_start --scenario "$CASE_DIR/scenario"
expect "a belt that answers nothing: the handshake fails" 1 belt mode
device_stop
device_start --name 'Serial Port'
expect "a foreign device with the belt's service is not taken" 4 timeout 30 "$TENDON" feelspace mode --radio bluez \
    --adapter hci0 --timeout 5
device_stop
