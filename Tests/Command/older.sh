#!/bin/bash
# SPDX-License-Identifier: MIT
# What an older version left behind still works: bonds, attribute handles, messages that wait for a broker, names of devices,
# the configuration, captures. Tests/Command/b2f535fd is what the version of that commit wrote: `run --pair` beside a
# simulated bose, feelspace, activ5 and fjorden with --database-hash, no broker in range; then `fjorden info`.
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/broker.bash"
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

# A test of a capture: the lines that its version printed, 142 of four families.
run replay --test "$older/capture.test"
is "$status" 0 "its test of a capture: status"
like "$out" '"events":142,"differences":0' "its test of a capture: no line differs"
finish
