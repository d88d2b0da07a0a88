#!/bin/bash
# SPDX-License-Identifier: MIT
# One run with every output at the same time: a head, a belt, a trainer, a grip and a heart rate strap, received as JSON lines, by
# MQTT, OSC and the Lab Streaming Layer, by the page, and recorded as CSV; the gateway is killed in the middle and started again.
# Not in `make test`. TENDON_OUTPUTS_SECONDS (default 8): of each half.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
lsl=$("$root/scripts/python_package.sh" pylsl 1.18.6) || { echo "Bail out! no pylsl"; exit 1; }
osc=$("$root/scripts/python_package.sh" python-osc 1.10.2) || { echo "Bail out! no python-osc"; exit 1; }
export PYTHONPATH=$lsl:$osc LSLAPICFG=$work/lsl_api.cfg
seconds=${TENDON_OUTPUTS_SECONDS:-8}
limit=$((180 + 3 * seconds))
lsl_of_this_test >"$LSLAPICFG"
now() { python3 -c 'import time; print(time.monotonic())'; }
newest() { find "$1" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1; }

# The devices move for as long as both halves need.
for at in $(seq 2 $((limit))); do echo "at ${at}000ms shutter half"; echo "at ${at}500ms shutter released"; done >"$work/keys"
echo 'at 100ms turn 45' >"$work/turns"
for at in $(seq 1 3 $((limit))); do echo "at ${at}s squeeze 900"; done >"$work/squeezes"
number=0
# Of this run alone: receivers of the Lab Streaming Layer look for a stream by its device.
range=$(printf 'C0:00:%02X:%02X:20' $(($$ >> 8 & 255)) $(($$ & 255)))
device() { # FAMILY NAME OPTION...
    number=$((number + 1))
    printf '[device %s:0%s random]\nname = %s\n' "$range" $number "$2" >>"$work/names"
    start "$2" simulate "$1" --radio virtual --json --address "$range:0$number/random" "${@:3}"
    until_true ready "$2"
}
strap=$root/packaging/devices/heart_rate.json
device bose head
device feelspace waist --scenario "$work/turns" --scenario-from connection
device activ5 hand --scenario "$work/squeezes" --scenario-from connection
device fjorden camera --scenario "$work/keys" --scenario-from connection
device heart_rate strap --define "$strap"

# The receivers that outlive the gateway.
hold_port port
broker 'allow_anonymous true'
hold_port page
python3 "$root/Tests/Command/check_osc.py" receive "$work/osc" 2>"$work/osc.err" &
children+=("$!")
until_true test -s "$work/osc.port"
timeout "$limit" python3 "$root/Tests/Command/check_lsl.py" receive "$work/lsl" 12 2>"$work/lsl.err" &
children+=("$!")
cat - "$work/names" >"$work/tendon.conf" <<END2
[gateway]
radio = virtual
pair = yes
[family bose]
sensors = rotation,accelerometer
[mqtt]
broker = mqtt://127.0.0.1:$port
stream = all
stream-batch = 100
[osc]
send = 127.0.0.1:$(cat "$work/osc.port")
[lsl]
streams = yes
library = $lsl/pylsl/lib/liblsl.so
[recording]
directory = $work/recordings
[web]
address = 127.0.0.1:$page
END2
connected() { [ "$(grep -c '"event":"connected"' "$work/lines.$1.out")" = 5 ]; }
gateway() { # NUMBER
    listen "all$1"
    start "lines.$1" run --json --define "$strap" --config "$work/tendon.conf"
    gateway=$child
    until_true connected "$1"
    result $? "run $1, five devices" "$(tail -5 "$work/lines.$1.err")"
    python3 "$root/Tests/Command/check_outputs.py" page "$page" "$work/page.$1" 2>"$work/page.$1.err" &
    children+=("$!")
    until_true test -s "$work/page.$1"
}
# What check_outputs.py compares of each device has come later than the time.
received_after() {
    local each
    for each in "head rotation" "head accelerometer" "waist orientation" "hand force" "strap heart_rate" "camera markers"; do
        tail -n 1 "$work/lsl/$each.jsonl" | sed 's/.*"time": \([0-9.]*\),.*/\1/' | awk -v time="$1" '{ later = $1 > time } END { exit !later }' || return 1
    done
}
compare() { # NUMBER BEGIN END
    kill "$listener" 2>/dev/null
    mv "$work/lines.$1.out" "$work/lines.$1" # without the rest of a line
    ln -s "$(newest "$work/recordings")" "$work/csv.$1"
    mv "$work/all$1.mqtt" "$work/mqtt.$1"
    python3 "$root/Tests/Command/check_outputs.py" compare "$work" "$2" "$3" "$1" >"$work/compared" 2>&1
    results "$work/compared"
}

gateway 1
until_true test -e "$work/lsl/ready"
result $? "every stream was found" "$(ls "$work/lsl"; cat "$work/lsl.err")"
begin=$(now)
sleep "$seconds"
end=$(now)
kill -KILL "$(pgrep -P "$gateway" | head -n 1)"
wait "$gateway" 2>/dev/null
killed=$(now)
compare 1 "$begin" "$(python3 -c "print($end - 1)")"

gateway 2
until_true received_after "$killed"
result $? "after kill -9 everything comes again" "$(tail -3 "$work/lines.2.err")"
begin=$(now)
sleep "$seconds"
end=$(now)
kill -INT "$gateway"
wait "$gateway"
is $? 0 "the end"
compare 2 "$begin" "$(python3 -c "print($end - 0.3)")"
like "$(cat "$work/lines.2.err")" 'its program was killed; it is whole up to then' "the recording of the killed gateway was made whole"
finish
