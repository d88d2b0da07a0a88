#!/bin/bash
# SPDX-License-Identifier: MIT
# GATT caches: kept when asked for, dropped by a command.
. "$(dirname "$0")/tap.bash"

store=${XDG_STATE_HOME:-$HOME/.local/state}/tendon/gatt
run cache drop --json
is "$status" 0 "cache drop: no directory is no error"
like "$out" '"event":"cache_dropped","devices":0' "cache drop: nothing"
run cache
is "$status" 2 "cache alone: usage"
run cache drop x
is "$status" 2 "an operand: usage"

# A record, as a device with a Database Hash leaves it, and a file that is none of ours.
mkdir -p "$store"
chmod 700 "$store"
for number in 1 2 3; do printf x >"$store/gatt-c0000000000$number-1"; done
: >"$store/other"
run cache drop --address C0:00:00:00:00:02/random --json
is "$status" 0 "one device: status"
like "$out" '"event":"cache_dropped","address":"C0:00:00:00:00:02"' "one device: which"
is "$(ls "$store" | tr '\n' ' ')" "gatt-c00000000001-1 gatt-c00000000003-1 lock other " "one device: the others stay"
run cache drop
is "$status" 0 "all devices: status"
like "$out" '"event":"cache_dropped","devices":2' "all devices: how many"
is "$(ls "$store" | tr '\n' ' ')" "lock other " "all devices: nothing else"

# A device without a Database Hash is served as without the option, and leaves nothing.
start device simulate bose --radio virtual --json
until_true ready device
run run --radio virtual --json --gatt-cache --notifications 5
is "$status" 0 "run with a cache: status"
like "$out" '"event":"connected"' "run with a cache: connects"
is "$(ls "$store" | tr '\n' ' ')" "lock other " "a device without a hash: nothing is kept"
finish
