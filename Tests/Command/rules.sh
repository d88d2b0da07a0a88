#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules of run: what is refused, with which words, before any radio is opened.
. "$(dirname "$0")/tap.bash"

refused() { # rule, pattern of the message, what
    run run --radio virtual --for 0.1 --rule "$1"
    is "$status" 2 "$3: status 2"
    like "$err" "the rule '.*': $2" "$3: says so"
    like "$err" "try: tendon run --rule " "$3: and how it is written"
}

refused 'bose.connected' "a rule is EVENT => ACTION" "no action"
refused '=> bose.x' "a rule is EVENT => ACTION" "no event"
refused 'bose.connected => bose.x => bose.y' "a rule is EVENT => ACTION" "two arrows"
refused 'bose => bose.x' "'bose' is not FAMILY.NAME" "a family without an event"
refused 'boze.connected => bose.x' "unknown family 'boze'; did you mean 'bose'" "a family that nobody knows"
refused 'bose.gestur => bose.x' "unknown event of bose 'gestur'; did you mean 'gesture'" "an event that nobody knows"
refused 'bose.gesture doubletap => bose.x' "unknown bose.gesture 'doubletap'; did you mean 'double_tap'" "a detail that nobody knows"
refused 'bose.connected twice => bose.x' "nothing may follow bose.connected" "a detail where none may be"
refused 'bose.gesture double_tap => bose.shake' "bose has no actions" "an action of a family without actions"
refused 'activ5.double_squeeze => feelspace.signa warning' "unknown action of feelspace 'signa'; did you mean 'signal'" "an action that nobody knows"
refused 'activ5.double_squeeze => feelspace.signal warnin' ".*warning" "an argument that nobody knows: what there is"
refused 'activ5.double_squeeze => feelspace.signal' ".*" "an argument too few"
refused 'belt.button home => grip.led' ".*" "aliases, and an argument too few"

# Carried out, once for each time that it happens, by the device that it names.
start devices simulate activ5 feelspace --radio virtual --json
devices=$child
until_true eval '[ "$(grep -c ready "$work/devices.out")" = 2 ]'
run run --radio virtual --pair --for 5 --json --rule 'activ5.squeeze => belt.signal warning' \
    --rule 'activ5.connected => activ5.tare' --rule 'activ5.squeeze => belt.stop'
squeezes=$(printf '%s\n' "$out" | grep -c '"event":"squeeze".*"state":"squeezed"')
[ "$squeezes" -ge 1 ]
result $? "the trainer is squeezed" "$squeezes"
is "$(printf '%s\n' "$out" | grep -c '"event":"action".*belt.signal warning')" "$squeezes" "each squeeze: one signal"
like "$out" '"event":"rule".*"devices":1,"missed":0' "the rule counts the devices that carry it out"
stops=$(printf '%s\n' "$out" | grep -c '"event":"action".*"action":"belt.stop"')
[ "$stops" -ge 1 ]
result $? "belt.stop: carried out, although the belt is not in app mode" "$(printf '%s\n' "$out" | grep action)"
unlike "$out" '"event":"action_failed"' "and no action failed"
kill -INT "$devices"
wait "$devices"
like "$(cat "$work/devices.out")" '"bytes":"30ff".*"outcome":"taken"' "and the belt took the stop"
unlike "$(cat "$work/devices.out")" '"bytes":"30ff".*"outcome":"wrong_mode"' "in a mode in which it does"
is "$(field signals "$(grep '"family":"feelspace"' "$work/devices.out" | grep summary)")" "$squeezes" "and the belt felt them"

# The belt is gone before the second action of the same event: that one failed, and is not reported as done.
echo 'at 2s mode calibration' >"$work/scenario"
start belt simulate feelspace --radio virtual --json --scenario "$work/scenario"
belt=$child
until_true ready belt
run run --radio virtual --pair --for 4 --json --no-reconnect \
    --rule 'belt.mode calibration => belt.mode standby' --rule 'belt.mode calibration => belt.stop'
like "$out" '"event":"action",.*"action":"belt.mode standby"' "an action that the belt took: done"
like "$out" '"event":"action_failed",.*"action":"belt.stop","text":".*not connected' "one that it did not take: failed"
unlike "$out" '"event":"action",.*"action":"belt.stop"' "and not done"
kill "$belt"
wait "$belt" 2>/dev/null

printf '# a comment\n\nbose.connected => bose.x\n' >"$work/rules"
run run --radio virtual --for 0.1 --rules "$work/rules"
is "$status" 2 "a file of rules: refused too"
like "$err" "rules, line 3: the rule 'bose.connected => bose.x'" "with its line"
printf '# Windows\r\nactiv5.squeeze => belt.signal warning\r\nbose.connected => bose.x\r\n' >"$work/rules"
run run --radio virtual --for 0.1 --rules "$work/rules"
like "$err" "rules, line 3: the rule 'bose.connected => bose.x'" "a file with CR LF: two rules, the second one is wrong"
printf 'activ5.squeeze => belt.signal warning\r\nactiv5.connected => activ5.tare\r\n' >"$work/rules"
run run --radio virtual --for 0.1 --rules "$work/rules"
is "$status" 4 "a file with CR LF: both rules are taken"
run run --radio virtual --for 0.1 --rules "$work/none"
is "$status" 1 "a file that is not there: status 1"
run run --help
like "$out" "bose.gesture \[WHICH\]" "help lists what rules may name"
finish
