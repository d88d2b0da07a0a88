#!/bin/bash
# SPDX-License-Identifier: MIT
# Scenarios of simulated devices: what happens at one end is told at the other.
. "$(dirname "$0")/tap.bash"

# Scenario: gestures, suspension, a lost link.
cat >"$work/scenario" <<'E2'
at 300ms gesture double_tap
at 500ms suspend voice_assistant
at 700ms resume
at 900ms disconnect
at 2500ms gesture affirmative
at 2800ms stop
E2
start played simulate bose --radio virtual --json --scenario "$work/scenario" --scenario-from connection
played=$child
until_true ready played
run run --radio virtual --gestures all --json --for 3.5
wait "$played"
like "$out" '"event":"gesture".*"gesture":"double_tap"' "scenario: a gesture"
like "$out" '"event":"suspended".*"reason":"voice_assistant"' "scenario: suspended, with its reason"
like "$out" '"event":"resumed"' "scenario: resumed"
like "$out" '"event":"disconnected"' "scenario: the link is lost"
is "$(printf '%s\n' "$out" | grep -c '"event":"connected"')" 2 "scenario: run connects again"
like "$out" '"event":"gesture".*"gesture":"affirmative"' "scenario: and streams again"

run simulate bose --radio virtual --scenario "$work/missing"
is "$status" 1 "a scenario that is not there"
echo 'at 1s dance' >"$work/bad"
run simulate bose --radio virtual --scenario "$work/bad"
is "$status" 2 "a scenario that is wrong: usage"
like "$err" "line 1" "a scenario that is wrong: says where"
run simulate bose --radio virtual --fault explode=1
is "$status" 2 "a fault that is none: usage"
printf 'at 1s squeeze\nat 2s sqeeze\n' >"$work/bad"
run simulate activ5 bose --radio virtual --scenario "$work/bad"
is "$status" 2 "a scenario with a word that no family knows"
like "$err" "bad, line 2, column 7: .*'sqeeze'" "the file, the place and the word"
like "$err" "accepted: advertise, .*disconnect, .*gesture, .*squeeze, .*suspend" "the commands of all families"
printf 'at 2s press start\r\n' >"$work/bad"
run simulate bose feelspace --radio virtual --scenario "$work/bad"
like "$err" "line 1, column 13: .*'start'; accepted: compass, home, pause, power" "the accepted words"
printf 'at 2s battery\n' >"$work/bad"
run simulate activ5 --radio virtual --scenario "$work/bad"
like "$err" "an argument is missing; accepted: a number up to 255" "the accepted number"

# One scenario for two families: each line goes to the family that knows it.
printf 'at 1200ms double_squeeze\nat 1s gesture double_tap\n' >"$work/both"
start both simulate bose activ5 --radio virtual --json --scenario "$work/both" --scenario-from connection
both=$child
until_true eval '[ "$(grep -c ready "$work/both.out")" = 2 ]'
run run --radio virtual --json --for 4
like "$out" '"event":"gesture".*"gesture":"double_tap"' "one scenario: the wearable"
like "$out" '"event":"double_squeeze","family":"activ5"' "one scenario: the trainer"
kill "$both"
finish
