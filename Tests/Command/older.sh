#!/bin/bash
# SPDX-License-Identifier: MIT
# What an older version left behind still works: bonds, attribute handles, messages that wait for a broker, names of devices,
# the configuration, captures. Tests/Command/b2f535fd is what the version of that commit wrote: `run --pair` beside a
# simulated bose, feelspace, activ5 and fjorden with --database-hash, no broker in range; then `fjorden info`. In obvious: what an
# Obvious device, its gateway and its cloud had when `obvious firmware upgrade` was killed in the middle of the transfer, after
# `update`, the purchase of feature 16, `update`, and `toggle 16 off`.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
. "$(dirname "$0")/cloud.bash"
older=$root/Tests/Command/b2f535fd
state=$XDG_STATE_HOME/tendon
mkdir -p "$state"
cp -r "$older/bonds" "$older/fjorden" "$older/gatt" "$older/mqtt-attic.db" "$state"
chmod -R go-rwx "$XDG_STATE_HOME"
cp -r "$state/gatt" "$work"

run config check "$older/tendon.conf"
is "$status $out" "0 $older/tendon.conf: no mistakes" "its configuration has no mistakes"
run config show "$older/tendon.conf"
like "$out" 'name = living-belt' "the name of a device is read"

run bonds list --json
is "$status" 0 "its bonds: status"
is "$(grep -o '"address":"[^"]*"' <<<"$out" | cut -d'"' -f4 | tr '\n' ' ')" \
    "C0:00:00:00:00:02 C0:00:00:00:00:04 C0:00:00:00:00:14 " "its bonds: of which devices"
run bonds export "$work/bonds.json"
is "$status" 0 "its bonds: exported"
like "$(tr -d ' \n' <"$work/bonds.json")" '"address":"C0:00:00:00:00:02".*"key":"c419769b8765bc228969849a76c5044e"' \
    "its bonds: the key of the belt"
cmp "$older/bonds" "$state/bonds"
result $? "reading changes nothing in the file" ""

# The devices of its names and handles. The grip is away.
for family in bose feelspace activ5; do
    case $family in bose) number=1 ;; feelspace) number=2 ;; activ5) number=3 ;; esac
    start $family simulate $family --radio virtual --address C0:00:00:00:00:0$number/random --database-hash --json
    until_true ready $family
done
hold_port port
broker 'allow_anonymous true'
listen air
sed "s,127.0.0.1:9,127.0.0.1:$port,; s,^gatt-cache = .*,gatt-cache = $state/gatt," "$older/tendon.conf" >"$work/tendon.conf"
start gateway run --config "$work/tendon.conf" --radio virtual --pair --json --capture "$work/run.btsnoop"
until_true grep -q 'living-belt: .*does not have the key of its bond' "$work/gateway.err"
result $? "the bond with the belt is used: a belt without its key is refused, by its name in the configuration" \
    "$(cat "$work/gateway.err")"
until_true seen air tendon/head 'm["product"]'
result $? "another device" "$(payload air tendon/head)"
until_true grep -q '"event":"sample","family":"activ5"' "$work/gateway.out"
result $? "a device without a name: its samples" "$(tail -2 "$work/gateway.out")"
like "$(grep -c '"time":"2026-11-29T13:26:' "$work/air.mqtt")" '^[1-9][0-9]+$' "the messages that waited arrive"
kill -INT "$child"
wait "$child"
is "$?" 0 "the gateway ends"
run replay "$work/run.btsnoop" --json
like "$(grep -c '"event":"undecoded"' <<<"$out")" '^[1-9]' "no device was discovered again: without the caches the capture has no handles"
run replay "$work/run.btsnoop" --json --gatt-cache="$work/gatt"
is "$(grep -c '"event":"undecoded"' <<<"$out")" 0 "with its caches it has"

# The grip that `fjorden` remembers.
start grip simulate fjorden --radio virtual --address C0:00:00:00:00:14/random --json
until_true ready grip
run fjorden forget --radio virtual
is "$status" 0 "fjorden forget: the grip that was remembered"
run bonds list --json
unlike "$out" C0:00:00:00:00:14 "its bond is removed"

# A test of a capture: the lines that its version printed, 142 of four families. What is read had the time of the next request,
# and has that of its response: the same lines, at other times, and those after which nothing was requested.
run replay --test "$older/capture.test"
like "$out" '"events":142,' "its test of a capture: so many lines"
python3 - "$older/capture.test" "$work/capture" "$work/expected" <<'CAPTURE'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
open(sys.argv[2], "wb").write(bytes.fromhex("".join(json.loads(line)["capture"] for line in lines if line.startswith('{"capture"'))))
open(sys.argv[3], "w").write("".join(line + "\n" for line in lines if line.startswith('{"time"')))
CAPTURE
run replay "$work/capture" --json --exact
untimed() { sed -e 's/^{"time":"[^"]*"//' -e 's/"device_time_ms":[0-9]*//' "$1" | sort; }
printf '%s\n' "$out" >"$work/now"
is "$(comm -23 <(untimed "$work/expected") <(untimed "$work/now") | grep -v '"event":"summary"' | head -c 600)" "" \
    "its test of a capture: each line is there"
is "$(comm -13 <(untimed "$work/expected") <(untimed "$work/now") | grep -v '"event":"summary"' \
    | sed -e 's/,"address.*"battery_percent"/ battery_percent/' | tr '\n' ' ')" \
    ',"event":"battery","family":"activ5" battery_percent:75} ,"event":"battery","family":"fjorden" battery_percent:80,"battery_low":false} ' \
    "its test of a capture: what was read last is there, too"

# The Obvious device goes on where it was.
older=$older/obvious
export XDG_STATE_HOME=$work/obvious XDG_CACHE_HOME=$work/obvious.cache TENDON_OBVIOUS_KEYS_FILE=$older/keys
state=$XDG_STATE_HOME/tendon
mkdir -p "$state" "$XDG_CACHE_HOME/obvious"
cp -r "$older/bonds" "$older/journal" "$state"
for packed in "$older"/cache/*.gz; do gzip -dc "$packed" >"$XDG_CACHE_HOME/obvious/$(basename "$packed" .gz)"; done
gzip -dc "$older/flash.gz" >"$work/flash"
cp "$older/flash.bonds" "$work/flash.bonds"
cp "$older"/cloud/* "$cloud_data"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())' \
    "$cloud_data/cloud.sqlite3" <"$older/cloud/cloud.sql"
chmod -R go-rwx "$XDG_STATE_HOME" "$XDG_CACHE_HOME" "$work/flash" "$work/flash.bonds" "$cloud_data"
start_cloud --firmware "1234:1.5.0:$(echo "$XDG_CACHE_HOME"/obvious/*.bin):Older notes."
start unit simulate obvious --radio virtual --address C0:00:00:00:00:0D/random --database-hash --flash "$work/flash" \
    --keys-file "$older/keys" --json
until_true ready unit
run obvious info --radio virtual --json
is "$(field provisioned "$out") $(field counter "$out") $(field firmware "$out")" "true 3 1.3.0" "the Obvious device: provisioned, with its counter"
run obvious features 16 --radio virtual --json
like "$out" '"feature":16,"state":"enabled","toggle":"deactivated"' "the feature that was bought, switched off as it was"
run obvious firmware upgrade --radio virtual --json
is "$status" 0 "its upgrade is continued"
unlike "$out" '"what":"download"' "the image is not downloaded again"
begun=$(grep -oE '"what":"transfer","percent":[0-9]+' <<<"$out" | cut -d: -f3 | sed -n 1,2p | sort -n | tail -1)
result "$([ "${begun:-0}" -ge 47 ]; echo $?)" "and begins where it was killed, not at 0" "at $begun %, killed at 64 %"
like "$(head -c 4 "$state/journal/obvious-c0000000000d-1" | od -An -c)" 'T +O +J +002' "its journal, of version 1, is written in version 2"
run obvious info --radio virtual --json
is "$(field firmware "$out")" 1.5.0 "the new firmware runs"
run obvious update --radio virtual --json
is "$(grep -o '"step":"[a-z]*","status":"[A-Z]*"' <<<"$out")" '"step":"features","status":"SUCCESS"' "update: nothing is provisioned again"
run obvious features 16 --radio virtual --json
like "$out" '"feature":16,"state":"enabled","toggle":"deactivated"' "the cloud knows what was bought"
cmp "$older/bonds" "$state/bonds" && cmp "$older/flash.bonds" "$work/flash.bonds"
result $? "the bond is used: neither side has a new one" "$(cat "$work/unit.out")"
finish
