#!/bin/bash
# SPDX-License-Identifier: MIT
# A device that is forgotten while it is connected: nothing of it comes back, on MQTT, in the metrics, on the page, over a
# restart. By a request, by `tendon forget`, by a configuration that leaves it alone; and one that gets another name.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
if ! command -v mosquitto >/dev/null || ! command -v mosquitto_sub >/dev/null; then
    skip "devices that are forgotten" "mosquitto and mosquitto-clients are not installed"
    finish
    exit
fi
trainer=C0:00:00:00:0C:01 belt=C0:00:00:00:0C:02 head=C0:00:00:00:0C:03
announced() { echo "homeassistant/device/tendon_$(tr -d : <<<"$1" | tr '[:upper:]' '[:lower:]')_random/config"; }
metrics=$work/tendon.prom
measured() { grep -q "address=\"$1\"" "$metrics"; }
# What the broker keeps of a device: nothing else is sent to a listener that comes late.
kept() { # address or name
    mosquitto_sub -h 127.0.0.1 -p "$port" -t '#' -W 1 -F '%t %p' >"$work/kept" 2>/dev/null
    grep -E "^tendon/$1( |/)|^$(announced "$1") " "$work/kept"
}
conf() { # more sections
    printf '[gateway]\nradio = virtual\npair = yes\n[mqtt]\nbroker = mqtt://127.0.0.1:%s\ngateway = gw\n' "$port"
    printf '[metrics]\nfile = %s\ninterval = 0.2\n[web]\naddress = 127.0.0.1:%s\n' "$metrics" "$page"
    printf '%b' "$1"
} >"$work/tendon.conf"
connected() { [ "$(grep -c "\"event\":\"connected\".*$1" "$work/$2.out")" -ge "${3:-1}" ]; }
events() { curl -sN --max-time 1 "http://127.0.0.1:$page/events"; }

hold_port port
hold_port page
broker 'allow_anonymous true'
listen all
start trainer simulate activ5 --radio virtual --json --address "$trainer/random"
trainer_id=$child
start belt simulate feelspace --radio virtual --json --address "$belt/random"
belt_id=$child
start head simulate bose --radio virtual --json --count 1 --address "$head/random"
head_id=$child
for name in trainer belt head; do until_true ready $name; done
conf ''
start one run --json --config "$work/tendon.conf"
gateway=$child
for address in $trainer $belt $head; do
    until_true connected $address one
    until_true seen all "tendon/$address" 'm["message_id"]'
    until_true seen all "tendon/$address/availability" 'm["state"] == "online"'
done
until_true measured "$trainer"
result $? "three devices are connected" "$(tail -3 "$work/one.err")"

# The trainer needs no bond: it advertises on, and is left alone.
publish tendon/bridge/gw/request/forget "{\"device\":\"$trainer\"}"
until_true seen all tendon/bridge/gw/response/forget 'm["status"] == "ok"'
result $? "a request forgets a connected device" "$(payload all tendon/bridge/gw/response/forget)"
like "$(grep "$trainer" "$work/one.out" | grep -v '"event":"found"' | tail -1)" '"event":"disconnected".*"reason":"requested"' "its connection was ended before"
sleep 1.5
is "$(kept "$trainer")" "" "the broker keeps nothing of it"
like "$(kept "$belt")" "tendon/$belt/availability" "and all of the others"
! measured "$trainer"
result $? "the metrics have it no more" "$(grep "$trainer" "$metrics")"
unlike "$(events)" "\"key\":\"$trainer" "nor has the page"
like "$(events)" "\"key\":\"$belt" "which has the others"
unlike "$(payload all tendon/bridge/gw/devices)" "$trainer" "nor the list of devices"
connected $trainer one 2
is $? 1 "it is not connected to again"
publish tendon/bridge/gw/request/scan '{}'
until_true seen all tendon/bridge/gw/response/scan "any(d['address'] == '$trainer' for d in m['data']['devices'])"
result $? "though it is received" "$(payload all tendon/bridge/gw/response/scan)"
publish tendon/bridge/gw/request/pair '{"seconds":60}'
until_true connected $trainer one 2
result $? "until new devices may pair" "$(tail -3 "$work/one.out")"
until_true eval '[ "$(times all "tendon/$trainer/availability" "m[\"state\"] == \"online\"")" = 2 ]'
result $? "then it is a new device" ""

# The belt has a bond, which goes after its connection: it is left alone as well, although it advertises and pairing is permitted.
before=$(grep -c "\"event\":\"connected\".*$belt" "$work/one.out")
publish tendon/bridge/gw/request/forget "{\"device\":\"$belt\",\"transaction\":\"belt\"}"
until_true seen all tendon/bridge/gw/response/forget 'm.get("transaction") == "belt" and m["status"] == "ok"'
result $? "a request forgets a connected device that has a bond" "$(payload all tendon/bridge/gw/response/forget)"
sleep 2.5
is "$(grep -c "\"event\":\"connected\".*$belt" "$work/one.out")" "$before" "it is not connected again"
is "$(kept "$belt")" "" "the broker keeps nothing of it"
publish tendon/bridge/gw/request/pair '{"seconds":60}'
until_true connected "$belt" one $((before + 1))
result $? "until devices may pair again" "$(grep "$belt" "$work/one.out" | tail -3)"

# Another program removes the bond of the belt; the gateway sees it when the connection has ended.
run forget --radio virtual --address "$belt/random"
is "$status" 0 "tendon forget"
kill -KILL "$(pgrep -P "$belt_id")"
wait "$belt_id" 2>/dev/null
until_true eval '! measured "$belt"'
result $? "tendon forget: the metrics have it no more" "$(tail -3 "$work/one.err")"
is "$(kept "$belt")" "" "tendon forget: the broker keeps nothing of it"
start belt simulate feelspace --radio virtual --json --address "$belt/random"
belt_id=$child
until_true ready belt
sleep 1.5
connected $belt one 3
is $? 1 "and it is left alone"

# A configuration that leaves the head alone and names the trainer.
conf "[device $head random]\nserve = no\n[device $trainer random]\nname = left\n"
kill -HUP "$(pgrep -P "$gateway")"
until_true seen all tendon/left/availability 'm["state"] == "online"'
result $? "a name of a reload: the device is available under it" "$(tail -2 "$work/one.out")"
until_true eval '! measured "$head"'
result $? "serve = no: the metrics have it no more" "$(tail -3 "$work/one.err")"
is "$(kept "$head")" "" "serve = no: the broker keeps nothing of it"
is "$(kept "$trainer" | grep -v homeassistant)" "" "nor of the old name"
until_true connected $belt one 3
result $? "a reload serves what is not excluded" "$(tail -2 "$work/one.out")"

# Over a restart, which finds no device.
kill "$gateway"
wait "$gateway"
kill "$trainer_id" "$belt_id" "$head_id"
conf "[device $belt random]\nserve = no\n[device $trainer random]\nname = left\n"
start two run --json --config "$work/tendon.conf" --families fjorden
gateway=$child
until_true seen all tendon/bridge/gw/info 'm["devices"] == 1'
until_true eval '[ -z "$(kept "$belt")" ]'
result $? "serve = no since the last start: the broker keeps nothing of it" "$(kept "$belt")"
is "$(kept "$head")" "" "what was forgotten stays forgotten"
like "$(kept left)" 'tendon/left/availability .*offline' "what was not is known"
kill "$gateway"
wait "$gateway"
finish
