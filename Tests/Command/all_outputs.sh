#!/bin/bash
# SPDX-License-Identifier: MIT
# One run with every output at the same time: a head, a belt, a trainer, a grip and a heart rate strap, received as JSON lines, by
# MQTT, by Pure Data, the Lab Streaming Layer and the page, and recorded as CSV, which the Python package reads; beside the gateway
# the package is connected to the same devices but the belt, which has one connection. The gateway is killed in the middle and
# started again. Not in `make test`. TENDON_OUTPUTS_SECONDS (default 8): of each half. TENDON_LIBRARY: libtendon.so for the package.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
. "$(dirname "$0")/puredata.bash"
export TENDON_LIBRARY=${TENDON_LIBRARY:-$root/.build/clang-sockets/libtendon.so}
[ -e "$TENDON_LIBRARY" ] || { echo "Bail out! no libtendon.so at $TENDON_LIBRARY"; exit 1; }
tool=$root/Tests/Command/check_outputs.py
lsl=$("$root/scripts/python_package.sh" pylsl 1.18.6) || { echo "Bail out! no pylsl"; exit 1; }
export PYTHONPATH=$lsl:$root/Python LSLAPICFG=$work/lsl_api.cfg
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
pure_data osc
[ -n "$pd_port" ] || { echo "Bail out! no Pure Data"; exit 1; }
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
send = 127.0.0.1:$pd_port
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
    python3 "$tool" page "$page" "$work/page.$1" 2>"$work/page.$1.err" &
    children+=("$!")
    until_true test -s "$work/page.$1"
}
# The package: what it has is of both runs, as it is not the one that is killed.
shared() {
    local each
    for each in rotation accelerometer force heart_rate_bpm grip_event; do grep -q "\"$each\"" "$work/package" || return 1; done
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
    /usr/bin/python3 "$tool" compare "$work" "$2" "$3" "$1" >"$work/compared" 2>&1
    results "$work/compared"
}

gateway 1
python3 "$tool" package "$work/package" "$strap" "$range":0{1,3,4,5}/random 2>"$work/package.err" &
children+=("$!")
until_true shared
result $? "the Python package, connected to four of them beside the gateway" "$(tail -qn 3 "$work/package" "$work/package.err")"
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
result $? "after kill -9 everything comes again" "$(tail -3 "$work/lines.2.err"; tail -qn 1 "$work"/lsl/*.jsonl)"
begin=$(now)
sleep "$seconds"
end=$(now)
kill -INT "$gateway"
wait "$gateway"
is $? 0 "the end"
compare 2 "$begin" "$(python3 -c "print($end - 0.3)")"
like "$(cat "$work/lines.2.err")" 'its program was killed; it is whole up to then' "the recording of the killed gateway was made whole"
finish
