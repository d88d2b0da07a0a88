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
run pair feelspace --radio virtual --address C0:00:00:00:00:21 --json
is "$status" 0 "pair: done"
like "$out" '"event":"paired","family":"feelspace","address":"C0:00:00:00:00:21"' "pair: the device"
run run --radio virtual --json --for 3 --address C0:00:00:00:00:21 --notifications 1
is "$status" 0 "pair: run connects to the bonded device without --pair"
finish
