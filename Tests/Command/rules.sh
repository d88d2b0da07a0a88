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
refused 'bose.connected => osc.recenter a b' "osc.recenter takes the name of a device, or nothing" "an argument too many"
refused 'belt.button home => grip.led' ".*" "aliases, and an argument too few"

ended() { # id
    kill -INT "$1"
    wait "$1"
}

# Carried out, once for each time that it happens, by the device that it names.
start devices simulate activ5 feelspace --radio virtual --json
devices=$child
until_true eval '[ "$(grep -c ready "$work/devices.out")" = 2 ]'
start ruled run --radio virtual --pair --json --rule 'activ5.squeeze => belt.signal warning' \
    --rule 'activ5.connected => activ5.tare' --rule 'activ5.squeeze => belt.stop'
until_true grep -q '"event":"action".*"action":"belt.stop"' "$work/ruled.out"
ended "$child"
out=$(cat "$work/ruled.out")
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
# Conditions on values, times, several actions, publish.
wrong() { # rule, column, pattern, what
    run run --radio virtual --for 0.1 --rule "$1"
    is "$status" 2 "$4: status 2"
    like "$err" "the rule '.*': $3.* \(column $2\)$" "$4: reason and column"
}
wrong 'activ5.forse > 50 => activ5.tare' 1 "unknown value of activ5 'forse'; did you mean 'force'" "a value that no family has"
wrong 'activ5.force > lots => activ5.tare' 16 "'lots' is no number" "no number"
wrong 'activ5.force => activ5.tare' 14 "force is a value: one of > >= < <= == !=" "a value without a comparison"
wrong 'activ5.squeeze for 1 s => activ5.tare' 16 "'for' follows a comparison" "an event does not hold"
wrong 'activ5.force > 50 for ever => activ5.tare' 23 "for takes a time such as 500 ms" "no time"
wrong 'activ5.force > 50 every 2 d => activ5.tare' 25 "every takes a time" "an unknown unit"
run run --radio virtual --for 100ms --rule 'activ5.force > 50 for 1 s every 2m => activ5.tare'
is "$status" 4 "times of a rule, with a blank and without: only the device is missing"
wrong 'activ5.force > 50 often => activ5.tare' 19 "'often' is unexpected here" "an unknown word"
wrong 'activ5.squeeze => activ5.tare, activ5.tar' 32 "unknown action of activ5 'tar'; did you mean 'tare'" "the second action"
wrong 'activ5.squeeze => activ5.tare,' 30 "an action is missing" "a comma and nothing"
wrong 'activ5.squeeze => publish a yes,publish b no' 29 "a blank follows the comma before an action: 'yes,publish'" "a comma without a blank"
wrong 'activ5.squeeze => publish a yes,belt.stop' 29 "a blank follows the comma before an action: 'yes,belt.stop'" "the same with an action of a device"
wrong 'activ5.squeeze => publish x' 19 "publish takes a name and a value" "publish without a value"
run run --radio virtual --for 0.1 --rule 'activ5.squeeze => exec bell'
is "$status" 2 "exec: a program that no configuration names"
like "$err" "no program 'bell': the configuration needs a section \[program bell\]" "says so"

# A name of the configuration, in a rule of the command line: 4, because only the device is missing.
printf '[device C0:00:00:00:00:31]\nname = hall\n' >"$work/named.conf"
run run --radio virtual --for 0.1 --config "$work/named.conf" --rule 'hall.squeeze => publish a b'
is "$status" 4 "--rule: the event of a device that --config names"
run run --rule 'activ5.squeeze => hall.tare' --config "$work/named.conf" --radio virtual --for 0.1
is "$status" 4 "--rule: an action of such a device, with the options in another order"
TENDON_CONFIG=$work/named.conf run run --radio virtual --for 0.1 --rule 'hall.squeeze => publish a b'
is "$status" 4 "--rule: a name of TENDON_CONFIG"
run run --radio virtual --for 0.1 --config "$work/named.conf" --rule 'hal.squeeze => publish a b'
like "$status $err" "^2 .*unknown family or device 'hal'; did you mean 'hall'" "--rule: the nearest name"
run config show "$work/named.conf" --rule 'hall.squeeze => publish a b'
is "$status" 0 "config show: a rule about a device of its file"
like "$out" "^rule = hall.squeeze => publish a b +; option" "and shows it"

start trainer simulate activ5 --radio virtual --json --address C0:00:00:00:00:30/random
trainer=$child
until_true ready trainer
cat >"$work/bell" <<'BELL'
#!/bin/sh
[ "$1" = slow ] && exec sleep 30
[ "$1" = bad ] && exit 3
{ echo "$*"; env | grep TENDON_; ls -l /proc/self/fd; } >>"$0.log"
BELL
printf '#!/no/such/interpreter\n' >"$work/gone"
printf 'exit 0\n' >"$work/bare"
chmod +x "$work/bell" "$work/gone" "$work/bare"
cat >"$work/rules.conf" <<CONF
[gateway]
radio = virtual
[device C0:00:00:00:00:30]
name = trainer
[program bell]
command = $work/bell ring ; \$(touch $work/shell)
[program slow]
command = $work/bell slow
timeout = 0.3
[program bad]
command = $work/bell bad
[program gone]
command = $work/gone
[program bare]
command = $work/bare
[rules]
rule = trainer.force > 20 every 1 min => trainer.tare, publish squeezed very much, exec bell
rule = activ5.force < 1000 for 100 ms => publish held yes
rule = activ5.force < 1000 for 1 min => publish long yes
rule = trainer.squeeze => exec slow
rule = trainer.squeeze => exec slow
rule = trainer.connected => exec bad, exec gone, exec bare
CONF
# The tare of the first rule can end a force above 20 before 100 ms are over: the time is tested with a limit that holds.
start configured run --config "$work/rules.conf" --capture "$work/force.btsnoop"
# In the order in which they come: values that hold, a squeeze, and 0.3 s later the end of its program.
for event in '"topic":"held"' '"event":"execution_failed".*"program":"bad"' '"event":"execution_failed".*"program":"gone"' \
    '"event":"execution_failed".*"program":"bare"' '"event":"squeeze".*"state":"squeezed"' \
    '"topic":"squeezed"' '"event":"action".*"action":"trainer.tare"' '"event":"executed".*"program":"bell"' \
    '"event":"execution_failed".*"program":"slow",.*"text":"it was ended'; do
    until_true grep -q "$event" "$work/configured.out"
done
ended "$child"
out=$(cat "$work/configured.out")
squeezes=$(printf '%s\n' "$out" | grep -c '"event":"squeeze".*"state":"squeezed"')
is "$(printf '%s\n' "$out" | grep -c '"event":"publish".*"name":"trainer","topic":"squeezed","value":"very much"')" 1 "a value above its limit: once in a minute"
like "$out" '"event":"action".*"name":"trainer","action":"trainer.tare"' "several actions; a device by its name"
[ "$(printf '%s\n' "$out" | grep -c '"topic":"held"')" -ge 1 ]
result $? "a value that holds for its time" "$squeezes squeezes"
unlike "$out" '"topic":"long"' "one that does not"
like "$out" '"event":"executed".*"program":"bell"' "a program of the configuration"
like "$out" '"event":"execution_failed".*"program":"slow",.*"text":"it was ended after 0.3 s"' "a program that takes too long"
like "$out" '"event":"execution_failed".*"program":"slow",.*"text":"the maximum number of its processes is running"' "one process at a time"
like "$out" '"event":"execution_failed".*"program":"bad",.*"text":"it ended with status 3"' "a program that fails"
err=$(cat "$work/configured.err")
like "$err" "^tendon: program bad \(trainer\): it ended with status 3$" "standard error names the program that failed"
like "$err" "^tendon: program gone \(trainer\): its first line names no program: '#!/no/such/interpreter': No such file" \
    "a script whose interpreter is missing"
like "$err" "^tendon: program bare \(trainer\): Exec format error: a script begins with #!" "a script without one"
like "$(cat "$work/bell.log")" '^ring$' "it gets its arguments"
like "$(cat "$work/bell.log")" '^TENDON_NAME=trainer$' "and variables"
unlike "$(cat "$work/bell.log")" 'anon_inode|socket:|btsnoop' "and no descriptor of the command"
[ ! -e "$work/shell" ]
result $? "no shell reads the command" ""
# Started by a program that ignores the ends of its children: it gets those of its own.
cat >"$work/ignoring" <<END
#!/usr/bin/env python3
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv("$TENDON", ["tendon"] + sys.argv[1:])
END
printf '#!/bin/sh\nexit 4\n' >"$work/four"
chmod 755 "$work/ignoring" "$work/four"
printf '[rules]\nrule = activ5.connected => exec four\n[program four]\ncommand = %s\n' "$work/four" >"$work/ignored.conf"
TENDON=$work/ignoring start ignored run --config "$work/ignored.conf" --radio virtual --json
until_true grep -q '"event":"exec' "$work/ignored.out"
like "$(grep '"event":"exec' "$work/ignored.out")" '"execution_failed".*"text":"it ended with status 4"' "a parent that ignores its children's ends"
ended "$child"
kill -INT "$trainer"
wait "$trainer"

# The same rules with the capture: the same decisions, without any action.
run rules test "$work/rules.conf" "$work/force.btsnoop" --json
is "$status" 0 "rules test: done"
is "$(printf '%s\n' "$out" | grep -c '"event":"decision".*"publish squeezed very much"')" 1 "the value: one decision"
like "$out" '"event":"decision".*"actions":\["trainer.tare","publish squeezed very much","exec bell"\],"value":[2-9][0-9]' "its actions and its value"
is "$(printf '%s\n' "$out" | grep -c '"event":"decision".*"rule":"trainer.squeeze => exec slow"')" $((2 * squeezes)) "as many squeezes as live"
unlike "$out" '"event":"(executed|publish|action)' "and no action"
like "$out" '"event":"summary".*"decisions":\[1,[0-9]+,0,' "the summary counts decisions"
printf 'bose.gesture double_tap => publish tap yes\n' >"$work/rules"
run rules test "$work/rules" "$work/force.btsnoop"
is "$status" 0 "rules test: a file of rules"
like "$out" '"decisions":\[0\]' "nothing of that family happened"
printf '\xef\xbb\xbfactiv5.squeeze => publish tap yes\r\n' | "$TENDON" rules test - "$work/force.btsnoop" >"$work/out" 2>"$work/err"
is "$? $(cat "$work/err")" "0 " "rules test -: rules of standard input, with a byte order mark"
run rules test "$work/rules" "$work/none"
is "$status" 1 "rules test: no such capture"

run run --help
like "$out" "bose.gesture \[single_tap" "help lists what rules may name"
finish
