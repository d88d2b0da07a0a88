#!/bin/bash
# SPDX-License-Identifier: MIT
# run: a firmware upgrade over the air that the page or the broker begins; its progress in events, on MQTT and on the page.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/cloud.bash"
. "$(dirname "$0")/broker.bash"
if ! command -v mosquitto >/dev/null || ! command -v mosquitto_sub >/dev/null; then
    skip "an upgrade that the broker begins" "mosquitto and mosquitto-clients are not installed"
    finish
    exit
fi
unit=C0:00:00:00:0F:01
limit=300 # the part with the browser takes more than a minute on a busy machine
start_cloud
echo "1234 1 $cloud_key" >"$work/keys"
head -c 18 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/token"
chmod 600 "$work/token"
simulate() { # name, arguments: a new device, which no gateway has a bond with
    export XDG_STATE_HOME=$work/state.$1 XDG_CACHE_HOME=$work/cache.$1
    start "$1" simulate obvious --radio virtual --json --address $unit/random --keys-file "$work/keys" "${@:2}"
    device=$child
    until_true ready "$1"
}
end() { # id
    kill -INT "$1"
    wait "$1" 2>/dev/null
}
state() { payload "$1" "tendon/$unit"; }
# What Home Assistant makes of every state of the device, one JSON a line.
entity() { python3 "$root/Tests/Command/check_discovery.py" "$work/$1.mqtt" update; }

# A device that is reset in the middle and has lost its bond: the upgrade ends without a connection. Meanwhile the rest of
# this test is done.
export XDG_RUNTIME_DIR=$work/run.lost
mkdir -m 700 "$XDG_RUNTIME_DIR"
upgrades=(--radio virtual --pair --json --keys-file "$work/keys" --rule 'obvious.connected => obvious.firmware upgrade')
simulate lost --fault delay=80%,delay_ms=60 --seed 3
start without run "${upgrades[@]}"
without=$child
until_true grep -qE '"what":"transfer","percent":[34][0-9]' "$work/without.out"
kill -KILL "$(pgrep -P "$device")"
wait "$device" 2>/dev/null
simulate reset
reset=$device
export XDG_RUNTIME_DIR=$work/run

hold_port port
hold_port web
broker 'allow_anonymous true'
listen air
gateway=(--radio virtual --pair --json --keys-file "$work/keys" --mqtt "mqtt://127.0.0.1:$port" --mqtt-gateway gw
    --mqtt-state-interval 100 --web "127.0.0.1:$web" --web-token-file "$work/token")

# A radio so slow that a page can be opened during the transfer, also on a busy machine. The browser begins the upgrade.
simulate slow --fault delay=80%,delay_ms=150 --seed 3
start one run "${gateway[@]}"
one=$child
until_true seen air "tendon/$unit" 'm["firmware"] == "1.3.0" and m["available"] == "1.4.0"'
result $? "the gateway says after connecting that there is newer firmware" "$(state air; cat "$work/one.err")"
if command -v chromium >/dev/null; then
    python3 "$root/Tests/Command/browser_upgrade.py" "http://127.0.0.1:$web/" "$(cat "$work/token")" \
        ${PICTURES:+"$PICTURES"} >"$work/browser.results" 2>&1 || true
    results "$work/browser.results"
else
    skip "the upgrade on the page" "chromium is not installed"
    publish "tendon/$unit/set" '{"firmware":"upgrade"}'
fi
patience=600 until_true grep -q '"event":"action","family":"obvious".*"action":"obvious.firmware upgrade"' "$work/one.out"
result $? "the action ends when the device runs the new firmware" "$(tail -3 "$work/one.out")"
steps=$(grep -oE '"event":"update".*"status":"[A-Z]*"' "$work/one.out" | sed 's/.*:"//; s/"//' | tr '\n' ' ')
is "$steps" "PREPARING RESETTING SUCCESS " "run reports the steps of the upgrade"
is "$(grep -oE '"event":"progress".*"what":"[a-z]*"' "$work/one.out" | sed 's/.*:"//; s/"//' | uniq | tr '\n' ' ')" \
    "download transfer " "and the progress of the download and of the transfer"
like "$(grep '"event":"progress"' "$work/one.out" | tail -1)" '"what":"transfer","percent":100,"bytes":65536,"total_bytes":65536' \
    "to the end"
is "$(grep -c '"event":"disconnected"' "$work/one.out")" 0 "the restart of the device is no end of its connection"
until_true seen air "tendon/$unit" 'm["firmware"] == "1.4.0" and "available" not in m and "progress" not in m'
result $? "the state has the new firmware, and no transfer any more" "$(state air)"
until_true seen air "tendon/$unit/event" 'm["event"] == "progress" and m["what"] == "transfer" and m["percent"] > 50'
result $? "MQTT: events of the progress" ""
entity air >"$work/entity"
like "$(head -1 "$work/entity")" '"in_progress": false.*"update_percentage": null' "Home Assistant: no upgrade at first"
like "$(grep '"installed_version": "1.3.0", "latest_version": "1.4.0", "in_progress": false' "$work/entity" | tail -1)" 1.4.0 \
    "Home Assistant: newer firmware is offered"
percents=$(grep '"in_progress": true' "$work/entity" | grep -oE '"update_percentage": [0-9]+' | grep -oE '[0-9]+')
result "$([ "$(sort -u <<<"$percents" | wc -l)" -ge 5 ] && [ "$(sort -n <<<"$percents")" = "$percents" ]; echo $?)" \
    "Home Assistant: update_percentage rises while in_progress" "$percents"
like "$(tail -1 "$work/entity")" '"installed_version": "1.4.0", "latest_version": "1.4.0", "in_progress": false, "update_percentage": null' \
    "Home Assistant: then the new firmware is installed"
publish "tendon/$unit/set" '{"firmware":"upgrade"}'
until_true seen air "tendon/$unit" 'm["update"]["status"] == "UNAVAILABLE"'
result $? "a further upgrade: there is nothing newer" "$(state air)"
publish "tendon/$unit/set" '{"firmware":"check"}'
until_true seen air "tendon/$unit/event" 'm["event"] == "action" and m["action"] == "obvious.firmware check"'
result $? "set: firmware check" "$(tail -2 "$work/one.out")"
publish "tendon/$unit/set" '{"firmware":"now","transaction":"x"}'
until_true seen air tendon/bridge/gw/response/set 'm["transaction"] == "x" and "check or upgrade" in m["error"]'
result $? "set: another word is refused" "$(payload air tendon/bridge/gw/response/set)"
end "$device"
end "$one"

# A rule begins it, on a device that survives; the gateway is ended in the middle, and the next one continues.
simulate kept --flash "$work/flash" --fault delay=80%,delay_ms=60 --seed 3
start two run "${upgrades[@]}"
until_true grep -qE '"what":"transfer","percent":[34][0-9]' "$work/two.out"
result $? "a rule begins an upgrade" "$(tail -2 "$work/two.out"; cat "$work/two.err")"
begun=$(date +%s%N)
end "$child"
is "$(($(date +%s%N) - begun < 3000000000))" 1 "the gateway ends at once"
like "$(grep '"event":"update"' "$work/two.out" | tail -1)" '"status":"INTERRUPTED"' "and says that the upgrade is interrupted"
reached=$(grep '"what":"transfer"' "$work/two.out" | grep -oE '"percent":[0-9]+' | tail -1 | cut -d: -f2)
start three run "${upgrades[@]}"
patience=600 until_true grep -q '"status":"SUCCESS"' "$work/three.out"
result $? "the next gateway continues it to its end" "$(tail -2 "$work/three.out")"
begun=$(grep '"what":"transfer"' "$work/three.out" | grep -oE '"percent":[0-9]+' | cut -d: -f2 | sed -n '1,2p' | sort -n | tail -1)
result "$([ "${begun:-0}" -ge 20 ]; echo $?)" "not from the beginning" "at $begun %, interrupted at $reached %"
end "$child"
end "$device"

# Without a cloud, and with one that does not respond.
simulate plain
(
    unset TENDON_OBVIOUS_BASE_URL
    exec timeout 20 "$TENDON" run "${upgrades[@]}" >"$work/four.out" 2>"$work/four.err" </dev/null
) &
four=$!
children+=("$four")
until_true grep -q '"event":"action_failed"' "$work/four.out"
like "$(grep '"event":"action_failed"' "$work/four.out")" 'TENDON_OBVIOUS_BASE_URL' "without a cloud: what is missing"
kill "$(pgrep -P "$four")"
wait "$four"
stop_cloud
start five run "${upgrades[@]}"
patience=1000 until_true grep -q '"event":"action_failed"' "$work/five.out"
result $? "a cloud that does not respond: the action fails" "$(tail -2 "$work/five.out")"
like "$(grep '"event":"update"' "$work/five.out" | tail -1)" '"status":"DOWNLOAD_FAILED"|"status":"FAILED"|"status":"UNAVAILABLE"' "and the upgrade ends"
is "$(grep -c '"event":"disconnected"' "$work/five.out")" 0 "the device stays connected"
end "$child"
patience=600 until_true grep -q '"event":"disconnected"' "$work/without.out"
result $? "a device that was reset in the middle: its connection ends with the upgrade" "$(tail -2 "$work/without.out")"
like "$(grep '"event":"update"' "$work/without.out" | tail -1)" '"status":"(FAILED|BOND_CANCELLED)"' "which has failed"
end "$without"
end "$reset"
kill "$broker" "$listener"
finish
