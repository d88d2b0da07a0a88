#!/bin/bash
# SPDX-License-Identifier: MIT
# feelspace vibrate, navigate, signal, intensity, mode, stop, watch; belts in run, stream, rules and simulate.
. "$(dirname "$0")/tap.bash"

cat >"$work/scenario" <<'EVENTS'
at 0s heading 90
EVENTS
start belt simulate feelspace --radio virtual --json --address C0:00:00:00:00:05/random --scenario "$work/scenario"
belt=$child
until_true ready belt
bytes() { # what arrived at a characteristic, one line each
    sed -n "s/.*\"characteristic\":\"$1\",\"bytes\":\"\([^\"]*\)\".*\"outcome\":\"\([^\"]*\)\".*/\1 \2/p" "$work/belt.out"
}

run scan --radio virtual --family feelspace --count 1 --json --for 3
like "$out" '"family":"feelspace"' "scan: a belt is known by its name"

run feelspace vibrate --radio virtual --bearing 90 --pattern continuous --intensity 40 --for 0.3
is "$status" 0 "feelspace vibrate: done"
is "$(bytes fe03 | head -n 1)" "010128000000035a000000fff40100000000 taken" "feelspace vibrate: the bytes"
like "$(bytes fe05)" '^01810300 taken' "feelspace vibrate: app mode"
like "$(bytes fe05 | tail -n 1)" '^01810100 taken' "feelspace vibrate: and back"
run feelspace vibrate --radio virtual --motors 0,8 --pattern single_short --iterations 2 --period 0.1s
is "$(bytes fe03 | tail -n 2 | head -n 1)" "0102aaaa0000000101000002640000000000 taken" "feelspace vibrate: motors, twice"
for wrong in "" "--bearing 1 --angle 2" "--motors 16" "--motors 0,1,2,3,4,5,6" "--bearing 0 --pattern odd" \
    "--bearing 0 --intensity 101" "--bearing 0 --channel 4" "extra --bearing 1"; do
    # shellcheck disable=SC2086
    run feelspace vibrate --radio virtual $wrong
    is "$status" 2 "feelspace vibrate $wrong: usage"
done

run feelspace signal --radio virtual warning
is "$status" 0 "feelspace signal: done"
is "$(bytes fe03 | tail -n 1)" "2000 taken" "feelspace signal: the bytes"
run feelspace signal --radio virtual alarm
is "$status" 2 "feelspace signal: an unknown one"
people feelspace intensity --radio virtual
like "$out" "50 %" "feelspace intensity: told"
run feelspace intensity --radio virtual 40 --json
like "$out" '"event":"default_intensity".*"intensity_percent":40' "feelspace intensity: changed"
run feelspace intensity --radio virtual 4
is "$status" 2 "feelspace intensity: out of range"
run feelspace mode --radio virtual compass
like "$out" '"event":"mode".*"mode":"compass"' "feelspace mode: changed"
run feelspace mode --radio virtual
like "$out" '"event":"mode".*"mode":"compass"' "feelspace mode: told"
run feelspace mode --radio virtual calibration
is "$status" 2 "feelspace mode: not that one"
run feelspace stop --radio virtual
is "$status" 0 "feelspace stop: done"
is "$(bytes fe03 | tail -n 1)" "30ff taken" "feelspace stop: taken, in app mode"
is "$(bytes fe05 | tail -n 1)" "01810200 taken" "feelspace stop: and back into compass mode"

# Each has no other result than that it was carried out.
for what in "signal warning" "stop" "vibrate --bearing 90 --pattern single_short --iterations 1 --for 0.2"; do
    # shellcheck disable=SC2086
    run feelspace $what --radio virtual --json
    is "$status" 0 "feelspace $what --json: status 0"
    lines=$(printf '%s\n' "$out" | grep -c '"event":"done".*"address":"C0:00:00:00:00:05".*"command":"feelspace '"${what%% *}"'"')
    is "$lines $(printf '%s\n' "$out" | wc -l)" "1 1" "feelspace $what --json: done, and nothing else"
done

run feelspace navigate --radio virtual --angle 90 --signal navigation --for 1
is "$status" 0 "feelspace navigate: done"
like "$out" '"event":"navigation".*"state":"navigating"' "feelspace navigate: says its state"
like "$(bytes fe03)" '^0201aaaa0000025a00000000f40100000000 taken' "feelspace navigate: the signal"
run feelspace navigate --radio virtual
is "$status" 2 "feelspace navigate: where to?"
run feelspace watch --radio virtual --for 1.3
is "$status" 0 "feelspace watch: done"
like "$out" '"event":"belt".*"mode":"wait","firmware":"52"' "feelspace watch: what the belt is"
like "$out" '"sensor":"orientation","received_at":[0-9]+\.[0-9]{6},"heading_deg":90,"accurate":true' "feelspace watch: headings"
run feelspace mode --radio virtual --address C0:00:00:00:00:06 --timeout 0.5
is "$status" 4 "feelspace mode: a belt that is not there"

run stream feelspace --radio virtual --orientation-period 20ms --notifications 5 --json --for 8
is "$status" 0 "stream feelspace: done"
like "$out" '"event":"connected","family":"feelspace".*"firmware":"52"' "stream feelspace: opened"
is "$(field notifications "$(printf '%s\n' "$out" | tail -n 1)")" 5 "stream feelspace: headings"
# The reader stops for a while with a short queue: what is not delivered is counted as dropped, and the command still
# ends after as many notifications.
slowly 1 stream feelspace --radio virtual --orientation-period 20 --queue-size 4 --notifications 60 --json --for 15
is "$status" 0 "stream feelspace --queue-size: done"
line=$(printf '%s\n' "$out" | tail -n 1)
received=$(field notifications "$line") dropped=$(field dropped "$line") delivered=$(field delivered "$line")
[ "$received" -ge 60 ] && [ "$dropped" -ge 5 ]
result $? "stream feelspace --queue-size: ends after so many notifications, some of them dropped" "$line"
is "$received" "$((delivered + dropped))" "stream feelspace --queue-size: received = delivered + dropped"
is "$(printf '%s\n' "$out" | grep -c '"event":"sample"')" "$delivered" "stream feelspace --queue-size: what was delivered is printed"
run run --radio virtual --rule 'feelspace.connected => feelspace.signal goal_reached' --notifications 2 --json --for 8
like "$out" '"event":"action".*"action":"feelspace.signal goal_reached"' "run --rule: carried out"
is "$(bytes fe03 | tail -n 1)" "2001 taken" "run --rule: the belt got it"
run run --radio virtual --rule 'feelspace.button knob => feelspace.stop'
is "$status" 2 "run --rule: an unknown button"
run run --radio virtual --rule 'feelspace.connected => feelspace.signal alarm'
is "$status" 2 "run --rule: an unknown signal"
run stream feelspace --radio virtual --orientation-period 50 --notifications 4 --capture "$work/file" --json --for 8
is "$status" 0 "stream --capture: done"
run replay "$work/file" --json
is "$status" 0 "replay: done"
like "$out" '"event":"firmware","family":"feelspace".*"firmware":"52"' "replay: what was read"
like "$out" '"event":"mode","family":"feelspace".*"mode":' "replay: what was answered"
like "$out" '"event":"command".*"characteristic":"fe05","bytes":"0101"' "replay: what was written"
is "$(field notifications "$(printf '%s\n' "$out" | tail -n 1)")" 4 "replay: every heading"
kill "$belt"
wait "$belt" 2>/dev/null
is "$(field refused_writes "$(summary "$work/belt.out")")" 0 "simulate feelspace: it refused nothing"

start newer simulate feelspace --radio virtual --json --generation 2 --address C0:00:00:00:00:07/random
newer=$child
until_true ready newer
run stream feelspace --radio virtual --allow C0:00:00:00:00:07 --notifications 1 --json --for 8
like "$out" '"firmware":"4","variant":4' "simulate feelspace --generation 2: the newer hardware"
kill "$newer"
wait "$newer" 2>/dev/null

# Standby ends the connection: the belt did what it was told.
start sleepy simulate feelspace --radio virtual --json --address C0:00:00:00:00:08/random
sleepy=$child
until_true ready sleepy
run feelspace mode --radio virtual standby --address C0:00:00:00:00:08
is "$status $err" "0 " "feelspace mode standby: done, without an error"
like "$(cat "$work/sleepy.out")" '"bytes":"01810000".*"outcome":"taken","mode":"standby"' "feelspace mode standby: taken"
kill "$sleepy"
wait "$sleepy" 2>/dev/null

# On a terminal, a simulated belt says which motors are on, and nothing while that is as before.
timeout 20 script -qec "$(printf '%q ' "$TENDON" simulate feelspace --radio virtual --address C0:00:00:00:00:0B/random --for 5)" \
    /dev/null </dev/null >"$work/told" 2>&1 &
told=$!
until_true grep -q ready "$work/told"
run pair feelspace --radio virtual --address C0:00:00:00:00:0B
run feelspace vibrate --angle 90 --iterations 1 --radio virtual --address C0:00:00:00:00:0B
wait "$told"
like "$(cat "$work/told")" "vibrates: motor 4 \\(90°\\) [0-9]+ %" "simulate feelspace on a terminal: the motor that is on"
unlike "$(cat "$work/told")" "motors|outcome" "and no members of a line"
finish
