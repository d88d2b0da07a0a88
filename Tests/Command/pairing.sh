#!/bin/bash
# SPDX-License-Identifier: MIT
# Pairing across processes on the virtual radio: run, bose info, the file of bonds, forget.
. "$(dirname "$0")/tap.bash"

device=C0:00:00:00:00:01
printf 'at 2500ms pairing_mode on\n' >"$work/scenario"
start closed simulate bose --radio virtual --json --address $device/random --pairing required --scenario "$work/scenario"
first=$child
until_true ready closed
run run --radio virtual --json --pair --notifications 5 --for 10
is "$status" 0 "run: a device that wants pairing"
like "$out" '"event":"pairing".*"state":"wanted"' "run: asks for pairing mode"
like "$out" '"event":"pairing".*"state":"done"' "run: pairs when it is there"
like "$out" '"event":"sample"' "run: then it streams"
is "$(stat -c %a "$XDG_STATE_HOME/tendon/bonds" 2>&1)" 600 "the bond is in a file for its owner alone"

run run --radio virtual --json --notifications 5 --for 10
is "$status" 0 "run again: another process"
unlike "$out" '"event":"pairing"' "run again: bonded, so nothing is asked"
like "$out" '"event":"sample"' "run again: it streams"

run forget --radio virtual
is "$status" 2 "forget: needs an address"
run forget --radio virtual --address C0:00:00:00:00:02
is "$status" 4 "forget: a device that is not bonded"
run forget --radio virtual --address $device
is "$status" 0 "forget: done"
run run --radio virtual --json --pair=10 --notifications 5 --for 10
like "$out" '"event":"pairing".*"state":"done"' "after forget: paired anew"

# The device is reset: it has lost its key.
kill $first
wait $first 2>/dev/null
start ready simulate bose --radio virtual --json --address $device/random --pairing ready
until_true ready ready
run run --radio virtual --json --no-reconnect --for 5
like "$out" 'pairing' "a device that has lost its key: an error that says so"
unlike "$out" '"event":"sample"' "a device that has lost its key: nothing is streamed"
run forget --radio virtual --address $device --json
like "$out" '"event":"forgotten","address":"C0:00:00:00:00:01"' "forget, as JSON"
run bose info --radio virtual --json
is "$status" 0 "bose info: pairs by itself with a device in pairing mode"
like "$out" '"pairing_required":true' "bose info: the device says so"

start bondable simulate feelspace --radio virtual --json --generation 2 --address C0:00:00:00:00:21/random
until_true ready bondable
run run --radio virtual --json --for 1 --address C0:00:00:00:00:21
is "$status" 1 "run: a new device is not paired unless that is enabled"
like "$out" '"event":"connect_failed".*pairing with new devices is not enabled: use --pair' "run: says what enables it"
start platform simulate obvious --radio virtual --json --address C0:00:00:00:00:27/random
until_true ready platform
run run --radio virtual --json --for 1 --address C0:00:00:00:00:27
like "$out" '"event":"connect_failed".*"text":"the device is not paired; pairing with new devices is not enabled: use --pair, .*tendon pair obvious --radio virtual' \
    "run: the same of a family whose error has no word of pairing"
kill "$child"
run pair feelspace --radio virtual --address C0:00:00:00:00:21 --json
is "$status" 0 "pair: done"
like "$out" '"event":"paired","family":"feelspace","address":"C0:00:00:00:00:21"' "pair: the device"
run run --radio virtual --json --for 3 --address C0:00:00:00:00:21 --notifications 1
is "$status" 0 "pair: run connects to the bonded device without --pair"

# One state folder with bonds of other devices, a new belt: nothing of the older bonds is in its way.
start newer simulate feelspace --radio virtual --json --generation 2 --address C0:00:00:00:00:22/random
newer=$child
until_true ready newer
run run --radio virtual --json --pair --for 3 --address C0:00:00:00:00:22 --notifications 1
is "$status" 0 "a new belt beside older bonds: run --pair connects"
unlike "$out" '"event":"connect_failed"' "and nothing failed before"
like "$out" '"event":"battery".*"battery_percent":' "and the battery level is reported once it is connected"

# Every cause has its name, its number and its text; the advice fits the cause.
failing() { # name, pattern of the message, words of the command
    local name=$1 pattern=$2
    shift 2
    run "$@" --radio virtual
    is "$status" 1 "$name: status 1"
    like "$err" "$pattern" "$name: the cause"
}
start grip simulate fjorden --radio virtual --json --address C0:00:00:00:00:23/random
start wearable simulate bose --radio virtual --json --pairing ready --address C0:00:00:00:00:24/random
until_true ready grip
until_true ready wearable
touch "$work/file"
kept=$XDG_STATE_HOME
export XDG_STATE_HOME=$work/file
folder="is not a directory [(]SYSTEM_ENOTDIR, 20[)]; the bonds are in $work/file/tendon/bonds"
failing "a state folder that cannot be made, a grip" "$work/file/tendon/bonds: .*$folder" pair fjorden --address C0:00:00:00:00:23
failing "a state folder that cannot be made, a wearable" "pairing .*: .*$folder" bose info --address C0:00:00:00:00:24
start folder run --radio virtual --json --pair --for 20 --address C0:00:00:00:00:23
folder=$child
until_true grep -q '"event":"connect_failed"' "$work/folder.out"
kill -INT "$folder"
wait "$folder"
like "$(cat "$work/folder.out")" '"event":"connect_failed".*"text":".*SYSTEM_ENOTDIR, 20.*","error":"SYSTEM_ENOTDIR","error_number":20' "run: the same in its event"
mkdir -p "$work/loose/tendon"
echo keys >"$work/loose/tendon/bonds"
chmod 644 "$work/loose/tendon/bonds"
export XDG_STATE_HOME=$work/loose
failing "a file of bonds that others may read" "[(]ERROR_FILE_PERMISSION[)]; the bonds are in $work/loose" pair fjorden --address C0:00:00:00:00:23
export XDG_STATE_HOME=$kept

start closed2 simulate feelspace --radio virtual --json --pairing required --address C0:00:00:00:00:25/random
until_true ready closed2
failing "a belt that is not in pairing mode" "RADIO_ERROR_PAIRING_FAILED.*not in pairing mode: hold its home button" \
    feelspace intensity --address C0:00:00:00:00:25

start owner run --radio virtual --json --for 60 --address C0:00:00:00:00:22
owner=$child
until_true grep -q '"event":"connected"' "$work/owner.out"
failing "a belt that another program uses" "RADIO_ERROR_PEER_CLOSED.*one connection: if another device or program is connected" \
    feelspace intensity --address C0:00:00:00:00:22
run run --radio virtual --for 3 --address C0:00:00:00:00:22 --no-reconnect
like "$err" "PEER_CLOSED.*one connection: if another device or program is connected" "run: the same sentence"
kill -INT "$owner"
wait "$owner"

# Another device at the address of a bonded one: its key is missing there.
kill "$newer"
wait "$newer" 2>/dev/null
start reset simulate feelspace --radio virtual --json --generation 2 --address C0:00:00:00:00:22/random
until_true ready reset
failing "a belt that has lost its key" "does not have the key of its bond: .*'tendon forget --address C0:00:00:00:00:22/random --radio virtual --state $XDG_STATE_HOME/tendon'" \
    feelspace intensity --address C0:00:00:00:00:22
read -ra advice <<<"$(grep -oE "'tendon forget [^']*'" <<<"$err" | tr -d "'")"
run "${advice[@]:1}"
is "$status" 0 "the command of the advice runs as it is printed"
run feelspace intensity --radio virtual --address C0:00:00:00:00:22
is "$status" 0 "and the advice helps"

# A wrong passkey is not called a belt that is not in pairing mode.
start shown simulate feelspace --radio virtual --json --pairing ready --io display --address C0:00:00:00:00:26/random
until_true ready shown
run pair feelspace --radio virtual --address C0:00:00:00:00:26 --passkey 000000
is "$status" 1 "pair: a wrong passkey"
like "$err" "the passkey is wrong" "pair: says what is wrong"
unlike "$err" "not in pairing mode" "pair: and not what is right"
printf '# another device\nC0:00:00:00:00:99 123456\n' >"$work/passkeys"
chmod 600 "$work/passkeys"
run pair feelspace --radio virtual --address C0:00:00:00:00:26 --passkey-file "$work/passkeys"
is "$status" 1 "pair: a file of passkeys that does not have the device"
like "$err" "$work/passkeys has no passkey for C0:00:00:00:00:26: add a line" "pair: says so"
unlike "$err" "the passkey is wrong" "pair: no passkey was used"
# A bond that cannot be stored: each family says so, and where. Devices that do not pair say that.
for family in obvious fjorden feelspace activ5; do
    start "new_$family" simulate $family --radio virtual --json
    until_true ready "new_$family"
done
for family in obvious fjorden feelspace; do
    (unset XDG_STATE_HOME; HOME=/proc exec timeout 20 "$TENDON" run --radio virtual --pair --no-reconnect --for 3 \
        --families $family >"$work/unstored.lines" 2>"$work/err")
    like "$(cat "$work/err")" "the bond cannot be stored in /proc/.local/state/tendon/bonds: /proc/.local: No such file" \
        "$family: a directory that cannot be made"
done
start other_belt simulate feelspace --radio virtual --address C0:00:00:00:00:31/random --json
until_true ready other_belt
(unset XDG_STATE_HOME; HOME=/proc exec timeout 20 "$TENDON" pair feelspace --radio virtual \
    --address C0:00:00:00:00:31/random --timeout 4 >"$work/err" 2>&1)
like "$(cat "$work/err")" "the bond cannot be stored in /proc/.local/state/tendon/bonds: /proc/.local: No such file" \
    "pair: a directory that cannot be made"
for option in --log-level=warning --pair; do
    run run --radio virtual --families activ5 --require-encryption --no-reconnect --for 3 $option
    like "$err" "devices of the family activ5 do not pair: use them without --require-encryption, or .*--ignore activ5" \
        "--require-encryption: a device that does not pair ($option)"
    unlike "$err" "pairing service" "in words for users"
done
finish
