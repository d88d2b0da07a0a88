#!/bin/bash
# SPDX-License-Identifier: MIT
# Devices that are lost while a command works with one of them, and devices that are easily taken for each other.
. "$(dirname "$0")/tap.bash"

# lose DEVICE COMMAND...: kills the simulated device once the command has printed something; status and err of the command.
lose() { # name of the simulation, its id, pattern, words of the command
    local name=$1 device=$2 pattern=$3 command
    shift 3
    start "$name" "$@" --radio virtual
    command=$child
    until_true grep -Eq "$pattern" "$work/$name.out"
    kill -KILL "$(pgrep -P "$device")"
    wait "$device" 2>/dev/null
    wait "$command"
    status=$? err=$(cat "$work/$name.err")
}
start belt simulate feelspace --radio virtual --json --address C0:00:00:00:00:51/random
belt=$child
start frames simulate bose --radio virtual --json --address C0:00:00:00:00:52/random
frames=$child
until_true ready belt
until_true ready frames
lose watch "$belt" '"event":"sample"' feelspace watch --json --for 60
is "$status" 1 "feelspace watch: the belt is lost: status 1"
like "$err" "the connection was lost: .*RADIO_ERROR_PEER_CLOSED[)]$" "feelspace watch: the reason"
# Another belt: one that begins again has no bond.
start again simulate feelspace --radio virtual --json --address C0:00:00:00:00:5A/random
again=$child
until_true ready again
start vibrate feelspace vibrate --radio virtual --angle 0 --for 60
vibrate=$child
until_true grep -q '"motors":\[[^]]*[1-9]' "$work/again.out"
kill -KILL "$(pgrep -P "$again")"
wait "$again" 2>/dev/null
wait "$vibrate"
is "$?" 1 "feelspace vibrate: the belt is lost: status 1"
like "$(cat "$work/vibrate.err")" "RADIO_ERROR_PEER_CLOSED" "feelspace vibrate: the reason"
lose configure "$frames" '"event":"configuration"' bose configure --json --for 60
is "$status" 1 "bose configure: the wearable is lost: status 1"
like "$err" "the connection was lost: .*RADIO_ERROR_PEER_CLOSED[)]$" "bose configure: the reason"

# The other commands that work with one device.
start squeezed simulate activ5 --radio virtual --json --address C0:00:00:00:00:55/random
squeezed=$child
until_true ready squeezed
lose force "$squeezed" '"event":"sample"' activ5 force --json --for 60
is "$status" 1 "activ5 force: the trainer is lost: status 1"
like "$err" "the connection was lost: .*RADIO_ERROR_PEER_CLOSED[)]$" "activ5 force: the reason"
start route simulate feelspace --radio virtual --json --address C0:00:00:00:00:56/random
route=$child
until_true ready route
lose navigate "$route" '"event":"navigation".*"state":"navigating"' feelspace navigate --angle 90 --json --for 60
is "$status" 1 "feelspace navigate: the belt is lost: status 1"
like "$err" "the connection was lost" "feelspace navigate: the reason"
start grip simulate grip --radio virtual --json --address C0:00:00:00:00:57/random
grip=$child
until_true ready grip
# A grip is awaited again, as in run: it switches itself off.
start watching fjorden watch --radio virtual --json --for 4
watching=$child
until_true grep -q '"event":"connected"' "$work/watching.out"
kill -KILL "$(pgrep -P "$grip")"
wait "$grip" 2>/dev/null
until_true grep -q '"event":"disconnected"' "$work/watching.out"
like "$(cat "$work/watching.out")" '"event":"disconnected".*"reason":"connection_lost"' "fjorden watch: the grip is lost: the reason"
wait "$watching"
is "$?" 0 "fjorden watch: goes on until --for"

# The trainer disconnects while a response is outstanding.
start trainer simulate activ5 --radio virtual --json --address C0:00:00:00:00:53/random
until_true ready trainer
for what in battery TARE; do
    own=C0CC0000000$([ "$what" = TARE ] && echo 2 || echo 1)
    python3 "$here/peers.py" cut C00000000053 "$own" 30 "$what" 2>"$work/cut.err" &
    cutter=$!
    children+=("$cutter")
    run activ5 "${what,,}" --radio virtual --timeout 10 --address "$(sed 's/../&:/g; s/:$//' <<<"$own")/random"
    is "$status" 1 "activ5 ${what,,}: the trainer disconnects meanwhile: status 1"
    like "$err" "disconnected|lost" "activ5 ${what,,}: the reason"
    kill "$cutter"
    wait "$cutter" 2>/dev/null
done

# Two devices with the same 48 bits and different address types.
start public simulate bose --radio virtual --json --name Public --address C0:00:00:00:00:54/public
start random simulate bose --radio virtual --json --name Random --address C0:00:00:00:00:54/random
until_true ready public
until_true ready random
run run --radio virtual --json --for 2 --address C0:00:00:00:00:54
twins=$(printf '%s\n' "$out" | grep '"event":"connected"' | grep -o '"address_type":"[a-z]*","name":"[A-Z][a-z]*"' | sort | tr '\n' ' ')
is "$twins" '"address_type":"public","name":"Public" "address_type":"random","name":"Random" ' "twins: two devices"
line=$(printf '%s\n' "$out" | grep '"event":"summary"')
is "$(field devices "$line")" 2 "twins: counted as two"
is "$(printf '%s\n' "$out" | grep '"event":"sample"' | grep -c '"address_type":"\(public\|random\)"')" "$(field samples "$line")" \
    "twins: every sample has an address type"
run run --radio virtual --json --for 1 --address C0:00:00:00:00:54/public
unlike "$out" '"address_type":"random"' "twins: --address with a type takes one of them"
finish
