#!/bin/bash
# SPDX-License-Identifier: MIT
# fjorden info, watch, forget; stream with a profile and rules, simulate with a scenario, of grips.
. "$(dirname "$0")/tap.bash"

grip=C0:00:00:00:00:09
export XDG_STATE_HOME=$work/state
start hand simulate grip --radio virtual --json --address $grip/random
until_true ready hand

# A grip that may not pair is found and never connected.
"$TENDON" run --radio virtual --json --for 20 | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 0 "run: a reader that closes the pipe has seen enough"
like "$(cat "$work/hand.out")" '"family":"fjorden".*"name":"Fjorden Grip Simulator"' "simulate grip: the alias, and its name"

run scan --radio virtual --family fjorden --count 1 --json
like "$out" "\"family\":\"fjorden\",\"address\":\"$grip\"" "scan: knows it by its service"

run fjorden info --radio virtual --json
is "$status" 0 "fjorden info: pairs, checks the firmware, reads"
like "$out" "\"address\":\"$grip\",\"address_type\":\"random\",\"name\":\"Fjorden Grip Simulator\",\"manufacturer\":\"Tendon\".*\"firmware\":\"1.2.0\".*\"battery_percent\":80,\"battery_low\":false" "fjorden info --json"
like "$(cat "$XDG_STATE_HOME/tendon/fjorden")" "fjorden.bondedGrip.identifier $grip/random" "the bond is kept"
people fjorden info --radio virtual
like "$out" 'firmware: 1\.2\.0' "fjorden info: for people"
run fjorden watch --radio virtual --json --count 4
is "$status $(printf '%s\n' "$out" | grep -c '"event":"grip"')" "0 4" "fjorden watch: so many events of the bonded grip"
like "$out" '"event":"connected".*"address":"C0' "fjorden watch: who it is"
run fjorden forget --radio virtual
is "$status" 0 "fjorden forget"
run fjorden forget --radio virtual
is "$status" 4 "fjorden forget: there is no bond any more"
run fjorden info --radio virtual
is "$status" 1 "a grip that was not reset keeps its bond, and refuses"
like "$err" 'pairing with the grip failed: .*a grip has one bond' "and that is said"
kill -INT "$child"
wait "$child"

# Two seconds: a busy machine has subscribed by then.
cat >"$work/scenario" <<'E2'
at 2000ms shutter full
at 2100ms lose 1
at 2200ms shutter released
at 2400ms dial cw 2
at 2600ms event 0x61
at 2800ms battery 20
at 3000ms malformed length
E2
echo '{"codes": {"0x61": "customButtonPress(3)"}}' >"$work/profile"
start scripted simulate fjorden --radio virtual --json --address $grip/random --scenario "$work/scenario" \
    --scenario-from connection
until_true ready scripted
run stream grip --radio virtual --pair --json --for 6 --no-reconnect --profile "$work/profile" --capture "$work/capture" \
    --rule 'grip.event dialButtonCW => grip.led blinkFast 500'
is "$status" 0 "stream grip: done"
events=$(printf '%s\n' "$out" | grep '"event":"grip"' | sed 's/.*"grip_event":"\([^"]*\)".*/\1/' | tr '\n' ' ')
is "$events" "shutterButtonHalfDown shutterButtonDown dialButtonCW shutterButtonReleased customButtonPress batteryLow " \
    "stream: events; what was lost is made good; a code of the profile"
like "$out" '"grip_event":"dialButtonCW","count":2.*"lost_before":1' "stream: detents and losses"
like "$out" '"grip_event":"shutterButtonReleased".*"synthesized":true' "stream: what is made up says so"
like "$out" '"event":"battery".*"battery_percent":20,"battery_low":true' "stream: battery"
arrivals=$(printf '%s\n' "$out" | python3 -c '
import json, sys, time
arrived = [json.loads(line)["received_at"] for line in sys.stdin if "\"event\":\"grip\"" in line]
now = time.monotonic()
print(len(arrived), arrived == sorted(arrived) and now - 60 < arrived[0] and arrived[-1] <= now)')
is "$arrivals" "6 True" "stream: when each event arrived"
like "$out" '"event":"action".*"action":"grip.led blinkFast 500"' "a rule lights the grip's LED"
counters=$(printf '%s\n' "$out" | grep '"event":"summary"')
is "$(field samples "$counters") $(field delivered "$counters") $(field malformed "$counters")" "6 6 1" "stream: counters"
kill -INT "$child"
wait "$child"
like "$(cat "$work/scripted.out")" '"requests":1' "the grip took the command"
run replay "$work/capture" --json
is "$status" 0 "replay of a captured grip: done"
like "$out" '"event":"grip","family":"fjorden","address":"C0:00:00:00:00:09".*"grip_event":"dialButtonCW","count":2' \
    "replay: its events are decoded"
like "$out" '"event":"battery","family":"fjorden".*"battery_percent":20' "replay: its battery"
like "$out" '"event":"malformed","family":"fjorden".*"error":"' "replay: what was malformed"
is "$(field undecoded "$(summary "$work/out")")" 0 "replay: nothing stays undecoded"

echo '{"codes": {"0x61": "somethingElse"}}' >"$work/profile"
run stream grip --radio virtual --profile "$work/profile"
is "$status" 2 "a profile with an unknown event is refused"
for profile in '{}' '{"nmae_prefix": "x"}' '{"service": "zz"}' '[]'; do
    echo "$profile" >"$work/profile"
    run stream grip --radio virtual --profile "$work/profile" --for 0.2
    like "$status $err" "^2 tendon: --profile $work/profile: (it has no member; known: name_prefix, .*|unknown member 'nmae_prefix'; did you mean 'name_prefix'|the value of 'service' is not allowed|this is no JSON object)" "the profile $profile is refused"
done
run run --radio virtual --rule 'grip.event noSuchEvent => grip.led on'
is "$status" 2 "a rule with an unknown event is refused"
run run --radio virtual --rule 'grip.event dialButtonCW => grip.led purple'
is "$status" 2 "a rule with an unknown mode is refused"

# The bonded grip is not in range, another one is.
export XDG_STATE_HOME=$work/bonded
start first simulate grip --radio virtual --json --address C0:00:00:00:00:0A/random
until_true ready first
run fjorden info --radio virtual --json
is "$status" 0 "a grip is bonded"
kill "$child"
wait "$child" 2>/dev/null
start second simulate grip --radio virtual --json --address C0:00:00:00:00:0B/random
until_true ready second
run fjorden info --radio virtual --timeout 1
is "$status" 4 "only another grip is in range: status 4"
like "$err" "the bonded grip is not in range; 'tendon fjorden forget' removes the bond, --address chooses" "names the bond and forget"
run fjorden info --radio virtual --json --address C0:00:00:00:00:0B
is "$status" 0 "--address chooses the other grip"
# Ctrl-C while the bonded grip is searched for: that it is not in range is not known.
kill "$child"
wait "$child" 2>/dev/null
: >"$work/search.err"
start search fjorden info --radio virtual
until_true test -d "/proc/$(pgrep -P "$child")"
sleep 0.5
kill -INT "$(pgrep -P "$child")"
wait "$child"
is "$? $(cat "$work/search.err")" "4 tendon: interrupted" "fjorden info: Ctrl-C while it searches"
finish
